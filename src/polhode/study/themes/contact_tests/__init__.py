"""The theme of tests of contacts, see :mod:`polhode.study.themes.contact_tests.theme`."""
