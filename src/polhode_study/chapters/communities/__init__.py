"""What the first page says to four kinds of readers."""
