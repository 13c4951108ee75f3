"""``python -m rowsparse`` is the ``rowsparse`` command."""

from rowsparse.cli import main

if __name__ == "__main__":
    main()
