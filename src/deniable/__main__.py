"""`python -m deniable` is `deniable`."""

from deniable.cli import main

if __name__ == "__main__":
    main()
