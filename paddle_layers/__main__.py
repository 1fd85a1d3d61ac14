"""`python -m paddle_layers` is the command `paddle-layers`."""

from .cli import main

if __name__ == "__main__":
    main()
