#!/usr/bin/env python3
"""Checks which file may include which, by the layers that CMake's zklock_part() declares. CMake sees to private headers:
a part has only the folders of those it uses in its include path. This sees what CMake cannot, and reads the program,
the observers and the tests, too.

Usage: layers.py SOURCE_DIR    exit status 1, and a line for each include that points the wrong way
       layers.py --self-test   whether each kind of wrong include is found
"""
import collections
import pathlib
import re
import sys

from self_test import expect_found

# The core's public headers stand flat in include/zklock/; which layer each one belongs to stands here.
PUBLIC = {
    "values": """acl client_id clock codec connect_string connection_state create_mode error health node_options observer path
        results retry_policy stat timer transaction watch_event detail/existing detail/utf8 detail/weak_list recipe_kit/observers
        recipe_kit/bounded_list recipe_kit/merging_list recipe_kit/protected_path recipe_kit/random
        recipe_kit/shared_state recipe_kit/wait_policy""",
    "runtime": """state_stream detail/handler detail/initiate recipe_kit/async_event recipe_kit/blocking
        recipe_kit/complete_later recipe_kit/flight recipe_kit/spawn recipe_kit/use_tuple""",
    "session": "session session_renewal watch recipe_kit/session_ops recipe_kit/watch_listener",
    "client": """client client_operations client_options event_stream recipe_kit/event_queue recipe_kit/recipe_core
        recipe_kit/retry_loop""",
}
LIBRARIES = ["zklock", "recipes", "observe/audit", "observe/metrics"]  # each may use those before it
# A public header of the recipes belongs to the part that implements it: the one that has the .cpp of its name. Here are
# those that nothing implements; in a family that is one part, as the barriers are, they need not be listed.
RECIPES = {
    "wait_queue": "locks/lock_kind",
    "locks_lease": "locks/lock_observer locks/lock_settings locks/with_lease",
    "locks_mutex": "locks/blocking_lock locks/participant",
    "locks_multi_lock": "locks/multi_lease",
    "follow": "caches/follow_observer caches/follow_stream caches/freshness",
}
PART_OF = {f"zklock/recipes/{name}.hpp": f"zklock_recipes_{part}" for part, names in RECIPES.items() for name in names.split()}
# What stands on the libraries, and whose headers it may include in quotes beside its own.
OUTER = {"observe/http": [], "observe/metrics": ["observe/http"], "tools": ["observe/http"]}
OTHER = ["bench", "examples", "fuzz", "integration", "test"]
LAYERS = ["values", "runtime", "driver", "session", "client"]
LAYER_OF = {f"zklock/{name}.hpp": layer for layer, names in PUBLIC.items() for name in names.split()}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
PART = re.compile(r"zklock_part\(\s*(\w+)\s+OF\s+\w+\s+IN\s+(\S+)(?:\s+USES\s+(.*?))?\s+SOURCES", re.DOTALL)


class House:
    """The parts of a source tree, their files, and what is wrong with their includes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.folders = {}  # of each part
        self.uses = {}
        self.libraries = {}  # the folder of each part's library
        self.wrong = []
        for library in LIBRARIES:
            for name, folder, uses in PART.findall(self.text_of(library)):
                self.folders[name] = self.root / library / folder
                self.uses[name] = uses.split()
                self.libraries[name] = library
        self.arrows = collections.defaultdict(set)  # from each file to those of ours that it includes

    def text_of(self, library):
        file = self.root / library / "CMakeLists.txt"
        return file.read_text() if file.exists() else ""

    def below(self, part):
        """The part and all that it uses."""
        found, todo = set(), [part]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self.uses[each]
        return found

    def complain(self, file, text):
        self.wrong.append(f"{file.relative_to(self.root)}: {text}")

    def check(self):
        self.check_names()
        for part, folder in self.folders.items():
            for file in sorted(folder.glob("*.?pp")):
                self.check_source(part, file)
        for library in LIBRARIES:
            for file in sorted((self.root / library / "include").rglob("*.hpp")):
                self.check_public(library, file)
        for folder, others in OUTER.items():
            for file in self.sources(folder):
                self.check_outer(folder, others, file)
        for folder in OTHER:
            for file in self.sources(folder):
                self.check_path(file)
        self.check_circles()
        return self.wrong

    def sources(self, folder):
        """Those of a folder that the other checks do not read."""
        for file in sorted((self.root / folder).rglob("*.?pp")):
            if "include" not in file.relative_to(self.root).parts and file.parent not in self.folders.values():
                yield file

    def check_names(self):
        seen = {}
        for folder in self.folders.values():
            for file in folder.glob("*.hpp"):
                if file.name in seen:
                    self.complain(file, f"the name of {seen[file.name].relative_to(self.root)}, too")
                seen[file.name] = file

    def includes(self, file):
        for quote, name in INCLUDE.findall(file.read_text()):
            if ".." in name:
                self.complain(file, f"includes {name}: a path through '..'")
            elif name.startswith("zookeeper/") and file.parent != self.folders.get("zklock_core_driver"):
                self.complain(file, f"includes <{name}>: only the driver knows the C client")
            else:
                yield quote, name

    def public_file(self, name):
        for library in LIBRARIES:
            file = self.root / library / "include" / name
            if file.exists():
                return file
        return None

    def check_source(self, part, file):
        for quote, name in self.includes(file):
            if quote == '"':
                owner = next((p for p, f in self.folders.items() if (f / name).exists()), None)
                if owner is None:
                    self.complain(file, f'includes "{name}", which no part has')
                elif owner not in self.below(part):
                    self.complain(file, f'includes "{name}" of {owner}, which {part} does not use')
                else:
                    self.arrows[file].add(self.folders[owner] / name)
            elif name.startswith("zklock/"):
                self.check_public_include(file, self.layer_of_part(part), name)
                self.check_family(file, part, name)

    def part_of(self, name):
        """The part of the recipes that a public header belongs to; None for other headers."""
        if not name.startswith("zklock/recipes/"):
            return None
        family, stem = name.split("/")[2], pathlib.PurePath(name).stem
        recipes = [part for part, of in self.libraries.items() if of == "recipes"]
        implements = next((part for part in recipes if (self.folders[part] / f"{stem}.cpp").exists()), None)
        whole = f"zklock_recipes_{family}" if f"zklock_recipes_{family}" in recipes else None
        return implements or PART_OF.get(name) or whole

    def check_family(self, file, part, name):
        owner = self.part_of(name)
        if owner and part in self.folders and self.libraries[part] == "recipes" and owner not in self.below(part):
            self.complain(file, f"includes <{name}> of {owner}, which {part} does not use")

    def check_outer(self, folder, others, file):
        """Of a program, or a library that stands on ours: it includes public headers, and its own."""
        own = [self.root / each for each in [folder, *others]]
        for quote, name in self.includes(file):
            if quote == '"' and not any(name == found.relative_to(base).as_posix() or found.as_posix().endswith("/" + name)
                                        for base in own for found in base.rglob(pathlib.PurePath(name).name)):
                self.complain(file, f'includes "{name}", which {folder} does not have')
            elif name.startswith("zklock/") and self.public_file(name) is None:
                self.complain(file, f"includes <{name}>, which does not exist")
            elif "zklock/testing/" in name and folder != "tools":  # which has `zklock server`
                self.complain(file, f"includes <{name}>: what is not a test does not test")

    def check_path(self, file):
        for _, name in INCLUDE.findall(file.read_text()):
            if ".." in name:
                self.complain(file, f"includes {name}: a path through '..'")

    def layer_of_part(self, part):
        """None: above the core."""
        return part.removeprefix("zklock_core_") if part.startswith("zklock_core_") else None

    def check_public(self, library, file):
        relative = file.relative_to(self.root / library / "include").as_posix()
        is_core = library == "zklock" and "/testing/" not in relative
        if is_core and relative not in LAYER_OF:
            self.complain(file, "a public header whose layer this test does not know")
            return
        part = self.part_of(relative)
        if library == "recipes" and part is None:
            self.complain(file, "a public header whose part this test does not know")
        for quote, name in self.includes(file):
            if quote == '"':
                self.complain(file, f'includes "{name}": a public header includes no private one')
            elif name.startswith("zklock/"):
                self.check_public_include(file, LAYER_OF[relative] if is_core else None, name)
                if part:
                    self.check_family(file, part, name)

    def check_public_include(self, file, layer, name):
        target = self.public_file(name)
        if target is None:
            self.complain(file, f"includes <{name}>, which does not exist")
            return
        self.arrows[file].add(target)
        if layer is not None:
            theirs = LAYER_OF.get(name)
            if theirs is None or LAYERS.index(theirs) > LAYERS.index(layer):
                self.complain(file, f"includes <{name}> of {theirs or 'the recipes'}, above {layer}")
        elif self.library_of(target) > self.library_of(file):
            self.complain(file, f"includes <{name}> of a library above its own")
        elif "zklock/testing/" in name and "testing" not in file.relative_to(self.root).as_posix():
            self.complain(file, f"includes <{name}>: what is not a test does not test")

    def library_of(self, file):
        """Its place in LIBRARIES."""
        relative = file.relative_to(self.root).as_posix()
        return next(i for i, library in enumerate(LIBRARIES) if relative.startswith(library + "/"))

    def check_circles(self):
        done, path = set(), []

        def visit(file):
            if file in path:
                circle = [each.name for each in path[path.index(file):]]
                self.complain(file, "in a circle: " + " -> ".join([*circle, file.name]))
            elif file not in done:
                path.append(file)
                for each in sorted(self.arrows[file]):
                    visit(each)
                path.pop()
                done.add(file)

        for file in sorted(self.arrows):
            visit(file)


def self_test():
    layers = " ".join(f"zklock_part(zklock_core_{x} OF zklock IN src/{x}{' USES zklock_core_' + y if y else ''} SOURCES)"
                      for x, y in zip(LAYERS, [None, *LAYERS]))
    good = {
        "zklock/CMakeLists.txt": layers,
        "recipes/CMakeLists.txt": "zklock_part(zklock_recipes_support OF zklock_recipes IN src/support SOURCES)"
            "zklock_part(zklock_recipes_locks OF zklock_recipes IN src/locks USES zklock_recipes_support SOURCES)",
        "zklock/include/zklock/error.hpp": "#include <string>",
        "zklock/include/zklock/session.hpp": "#include <zklock/error.hpp>",
        "zklock/include/zklock/client.hpp": "#include <zklock/session.hpp>",
        "zklock/src/values/error.cpp": "#include <zklock/error.hpp>",
        "zklock/src/driver/driver.hpp": "#include <zookeeper/zookeeper.h>",
        "zklock/src/session/session_core.hpp": '#include "driver.hpp"',
        "observe/audit/CMakeLists.txt": "zklock_part(zklock_audit_parts OF zklock_audit IN src SOURCES)",
        "observe/audit/include/zklock/audit/audit_log.hpp": "#include <zklock/recipes/locks/lease.hpp>",
        "observe/http/web.hpp": "",
        "observe/metrics/src/books.cpp": '#include "web.hpp"',
        "recipes/include/zklock/recipes/locks/lease.hpp": "#include <zklock/recipes/locks/lock_error.hpp>",
        "recipes/include/zklock/recipes/locks/lock_error.hpp": "#include <zklock/client.hpp>",
        "recipes/src/locks/held_lock.hpp": "",
        "recipes/src/support/lock_error.cpp": "#include <zklock/recipes/locks/lock_error.hpp>",
        "tools/board/board.hpp": '#include "web.hpp"',
        "tools/ls.cpp": '#include "board/board.hpp"\n#include <zklock/recipes/locks/lease.hpp>',
        "recipes/src/locks/lease.cpp": "#include <zklock/recipes/locks/lease.hpp>",
    }
    bad = {
        "a private header above": ("zklock/src/driver/driver.hpp", '#include "session_core.hpp"'),
        "a public header above": ("zklock/src/values/error.cpp", "#include <zklock/client.hpp>"),
        "public headers, upwards": ("zklock/include/zklock/error.hpp", "#include <zklock/session.hpp>"),
        "the recipes, from the core": ("zklock/src/client/x.cpp", "#include <zklock/recipes/locks/lease.hpp>"),
        "the audit log, from the recipes": ("recipes/src/locks/lease.cpp", "#include <zklock/audit/audit_log.hpp>"),
        "past the layer, into the core": ("recipes/src/locks/lease.cpp", '#include "driver.hpp"'),
        "past the driver, to the C client": ("zklock/src/session/x.cpp", "#include <zookeeper/zookeeper.h>"),
        "a path through ..": ("recipes/src/locks/lease.cpp", '#include "../locks/lease.hpp"'),
        "a private header in a public one": ("zklock/include/zklock/client.hpp", '#include "driver.hpp"'),
        "two headers of one name": ("zklock/src/client/driver.hpp", ""),
        "a public header of no layer": ("zklock/include/zklock/news.hpp", ""),
        "a circle": ("zklock/src/driver/driver.hpp", '#include "driver.hpp"'),
        "a family's public header, from what families share":
            ("recipes/src/support/lock_error.cpp", "#include <zklock/recipes/locks/lease.hpp>"),
        "a family's public header, from a public header of what families share":
            ("recipes/include/zklock/recipes/locks/lock_error.hpp", "#include <zklock/recipes/locks/lease.hpp>"),
        "a public header of no part": ("recipes/include/zklock/recipes/news/news.hpp", ""),
        "a private header of the recipes, from the program": ("tools/ls.cpp", '#include "held_lock.hpp"'),
        "a header of the program, from an observer": ("observe/metrics/src/books.cpp", '#include "board.hpp"'),
        "the metrics, from what they use": ("observe/http/web.hpp", '#include "books.hpp"'),
        "a public header that is not there, from the program": ("tools/ls.cpp", "#include <zklock/news.hpp>"),
        "the C client, from the program": ("tools/ls.cpp", "#include <zookeeper/zookeeper.h>"),
        "an observer, testing": ("observe/metrics/src/books.cpp", "#include <zklock/testing/fake.hpp>"),
        "a path through .. in a test": ("test/locks/lease_test.cpp", '#include "../../recipes/src/locks/held_lock.hpp"'),
        "a path through .. in an integration test": ("integration/x_test.cpp", '#include "../test/support/catch.hpp"'),
        "the library, testing": ("recipes/src/locks/lease.cpp", "#include <zklock/testing/fake.hpp>"),
    }
    good["zklock/include/zklock/testing/fake.hpp"] = ""
    expect_found(lambda root: House(root).check(), good, {title: {file: text} for title, (file, text) in bad.items()})


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    house = House(sys.argv[1])
    wrong = house.check()
    files = len(house.arrows)
    print(*wrong, f"{len(house.folders)} parts, {files} files, {len(wrong)} includes that point the wrong way", sep="\n")
    sys.exit(1 if wrong or files < 100 else 0)


if __name__ == "__main__":
    main()
