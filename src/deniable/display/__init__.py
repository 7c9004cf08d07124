"""Tables, pictures and texts about designs and tallies that several types of question share.

Each type says in `types/<name>/display.py` which of these it uses; `report` asks the type.
"""
