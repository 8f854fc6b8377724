"""A student's file, read and never run: from bytes to answers in the order of the notebook.

`inbox` finds what counts in a student's folder (`choice`, `plain_file`, `aside`) and makes a parcel of it. `handed`
takes the cells out of the parcel's bytes, whatever these are (`archive`, `script`, `file_text`, `file_json`,
`merged`). `repair` finds the released cells again (`answers`, by `source` and `marks`) and brings them into the order
in which they count (`order`). `reader` does all of that; `submission` is what goes in and what comes out, `unreadable`
what is told else.
"""
