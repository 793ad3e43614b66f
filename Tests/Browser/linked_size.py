"""Adds up the bytes that the console adds to a linked program, from the map of the linker: see scripts/bench-console.

    linked_size.py MAP

Counts the sections that are loaded or in the file without debugging information. What the modules of the console make the compiler
add to other modules is not counted, and neither are pages of other features that need the console, such as reports: they are
listed on their own.
"""

import collections
import re
import sys

MODULES = ("OfferConsole", "ConsoleService", "CConsole")
# Files of later features that live in the modules of the console.
OTHERS = re.compile(r"(Report|Link|Campaign)")
OBJECT = re.compile(r"([^/\s]+)\.build/(\S*?)([^/\s]+)\.o:\(([^)]+)\)")

sizes = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1], errors="replace"):
    found = OBJECT.search(line)
    if not found or found[4].startswith((".debug", ".swift_ast", ".swiftmodule", ".symtab", ".strtab", ".comment")):
        continue
    # The columns of ld.lld are VMA, LMA, size and alignment; those of the others are the address and the size.
    fields = line.split()
    size = int(fields[2], 16) if len(fields) > 4 and not fields[0].startswith(".") else int(fields[-2], 16)
    module, file = found[1], found[3].removesuffix(".swift")
    if module == "offer_signer" and "onsole" in file:
        module = "offer-signer, its commands"
    elif module not in MODULES:
        continue
    sizes[module][file] += size

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
