"""The console: pages for people, at /console.

It owns the session cookie, templates, and everything a browser is told. Always: a page works without a script and
takes nothing from another host; a change comes from a page of ours or is refused; what others have written is text,
whatever is in it, and what cannot be seen in it is shown. A page runs the commands and reads that the API runs.
"""
