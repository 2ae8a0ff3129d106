#!/usr/bin/env python3
"""Writes manual pages out of what the program says about its command line.

    deploy/manual.py PROGRAM FOLDER     geobucket.1, and geobucket-SUBCOMMAND.1 for each subcommand
"""
import json, pathlib, subprocess, sys

SECTIONS = """.SH EXIT STATUS
.TP
0
Success.
.TP
1
The work failed.
.TP
2
Wrong usage.
.SH ENVIRONMENT
.TP
.B GEOBUCKET_SERVER
The address of the service, for commands that are its clients.
.TP
.B GEOBUCKET_TOKEN
The token with which they log in.
.TP
.B GEOBUCKET_TLS_CA
Roots of the service's certificate.
.TP
.B NO_COLOR
No colours, if it is set.
.P
Each flag of
.B geobucket serve
has a variable too: \\-\\-line\\-bytes is GEOBUCKET_LINE_BYTES.
.SH FILES
.TP
.I /etc/geobucket/geobucket.conf
Variables for the service that systemd starts.
.TP
.I /var/lib/geobucket/geobucket.sqlite
Its store.
"""


def escaped(text):
    """Text for roff: what stands in backquotes in bold, the first character of a line never a command."""
    parts = text.replace("\\", "\\e").replace("-", "\\-").split("`")
    text = "".join(part if n % 2 == 0 else f"\\fB{part}\\fR" for n, part in enumerate(parts))
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def usage(argument):
    """One line for what is typed: `\\-\\-limit N`."""
    value = escaped(argument.get("valueName", "").upper())
    if argument["kind"] == "positional":
        return f"\\fI{value}\\fR"
    names = [("\\-" if name["kind"] == "short" else "\\-\\-") + escaped(name["name"]) for name in argument["names"]]
    flags = ", ".join(f"\\fB{name}\\fR" for name in names)
    return flags if argument["kind"] == "flag" else f"{flags} \\fI{value}\\fR"


def page(words, command, version):
    """The page of one command; `words` are those that select it."""
    name = "-".join(words)
    arguments = [one for one in command.get("arguments", []) if one["shouldDisplay"]]
    subcommands = [one for one in command.get("subcommands", []) if one["shouldDisplay"]]
    lines = [f'.TH {name.upper()} 1 "" "geobucket {version}" "GeoBucket"', ".SH NAME",
             f"{escaped(name)} \\- {escaped(command['abstract'].rstrip('.'))}", ".SH SYNOPSIS",
             f"\\fB{escaped(' '.join(words))}\\fR"]
    lines += [usage(one) for one in arguments if one["kind"] == "positional" or not one["isOptional"]]
    lines += ["[options]"] if not subcommands else ["\\fISUBCOMMAND\\fR"]
    if "discussion" in command:
        lines.append(".SH DESCRIPTION")
        lines += [part for text in command["discussion"].split("\n\n") for part in (".P", escaped(text))]
    for title in dict.fromkeys(one.get("sectionTitle") for one in arguments):
        lines.append(f".SH {title.upper() if title else 'OPTIONS'}")
        for one in arguments:
            if one.get("sectionTitle") == title:
                lines += [".TP", usage(one), escaped(one.get("abstract", ""))]
    if subcommands:
        lines.append(".SH SUBCOMMANDS")
        for one in subcommands:
            lines += [".TP", f"\\fB{escaped(one['commandName'])}\\fR", escaped(one["abstract"])]
    if len(words) == 1:
        lines.append(SECTIONS.rstrip("\n"))
    others = ["-".join(words + [one["commandName"]]) for one in subcommands] + (["-".join(words[:-1])] if words[1:] else [])
    if others:
        lines += [".SH SEE ALSO", ",\n".join(f".BR {escaped(other)} (1)" for other in others)]
    return name, "\n".join(lines) + "\n"


def pages(words, command, version):
    yield page(words, command, version)
    for one in command.get("subcommands", []):
        if one["shouldDisplay"] and one["commandName"] != "help":
            yield from pages(words + [one["commandName"]], one, version)


def main(program, folder):
    def said(flag):
        return subprocess.run([program, flag], check=True, capture_output=True, text=True).stdout

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    command = json.loads(said("--experimental-dump-help"))["command"]
    for name, text in pages(["geobucket"], command, said("--version").strip()):
        (folder / f"{name}.1").write_text(text)


main(*sys.argv[1:])
