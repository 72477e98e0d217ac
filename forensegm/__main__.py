"""`python -m forensegm` is `forensegm`."""

import sys

from forensegm.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
