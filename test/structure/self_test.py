"""What the self-tests of the checks beside it share."""
import pathlib
import sys
import tempfile


def expect_found(check, good, bad):
    """`check` takes a directory, and returns what is wrong there. It is to find nothing in the files `good`, and
    something in them with each of `bad`, which says by a title which files are others. A file is a path and a text."""
    with tempfile.TemporaryDirectory() as directory:
        for title, files in [("nothing wrong", {}), *bad.items()]:
            root = pathlib.Path(directory) / title.replace(" ", "_")
            for name, content in {**good, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            found = check(root)
            if bool(found) == (title == "nothing wrong"):
                sys.exit(f"{title}: {found or 'not found'}")
            print(f"{title}: {found[0] if found else 'nothing found'}")
