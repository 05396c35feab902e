"""A text that terminals, pages and spreadsheets must not obey."""

HOSTILE = "\x1b[31m<script>alert(1)</script> \u202egnp \U0001f600 \"a cup\" שלום\r\n=cmd|'/c calc'!A1"
