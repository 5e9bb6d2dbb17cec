"""Searches for clients: `requests.py` reads what they ask, `searches.py` runs it, `web.py` speaks HTTP."""
