"""The theme of contacts, see :mod:`polhode.study.themes.contacts.theme`."""
