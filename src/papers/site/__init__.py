"""How the book is built, what that adds to the pages, and what watches over their text."""
