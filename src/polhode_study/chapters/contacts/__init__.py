"""The chapter of contacts, see :mod:`polhode_study.chapters.contacts.chapter`."""
