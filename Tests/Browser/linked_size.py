"""Adds up the bytes that the console adds to a linked program, from the map of the linker: see scripts/bench-console.

    linked_size.py MAP

Counts the sections that are loaded, except zeros. What the modules of the console make the compiler
add to other modules is not counted, and neither are pages of other features that need the console, such as reports: they are
listed on their own.
"""

import collections
import re
import sys

MODULES = ("OfferConsole", "ConsoleService", "CConsole")
# Files of later features that live in the modules of the console.
OTHERS = re.compile(r"(Report|Link|Campaign)")
# A section of an object file: its address, its size and the file. A long name of a section stands on a line of its own.
PLACED = re.compile(r"^ ?(\.\S+|COMMON)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S*?([^/\s]+)\.build/(\S*/)?([^/\s]+)\.o$")

sizes = collections.defaultdict(collections.Counter)
section = ""
for line in open(sys.argv[1], errors="replace"):
    line = line.rstrip("\n")
    if re.match(r"^ \.\S+$", line):
        section = line.strip()
        continue
    found = PLACED.match(line)
    if not found:
        continue
    section = found[1] or section
    # What has no address is discarded, or is not loaded, such as debugging information. Zeros take no place in the file.
    if int(found[2], 16) == 0 or section.startswith((".bss", ".swift_ast")):
        continue
    module, file = found[4], found[6].removesuffix(".swift")
    if module == "offer_signer" and "onsole" in file:
        module = "offer-signer, its commands"
    elif module not in MODULES:
        continue
    sizes[module][file] += int(found[3], 16)

total = others = 0
for module, files in sorted(sizes.items()):
    of_others = sum(size for file, size in files.items() if OTHERS.search(file))
    total += sum(files.values()) - of_others
    others += of_others
    largest = ", ".join(f"{file} {size}" for file, size in files.most_common(5))
    print(f"  {module:40} {sum(files.values()):10} bytes; the largest: {largest}")
print(f"  {'the console':40} {total:10} bytes, without reports and links")
print(f"  {'reports and links in these modules':40} {others:10} bytes")
if not total:
    sys.exit("error: the map has nothing of the console")
