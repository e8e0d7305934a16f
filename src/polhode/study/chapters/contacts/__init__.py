"""The chapter of contacts, see :mod:`polhode.study.chapters.contacts.chapter`."""
