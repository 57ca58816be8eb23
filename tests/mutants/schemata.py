"""Rewrites a Rust source so that it holds many mutants, of which an environment variable switches one on (mutant schemata).

A mutant is an entry of `cargo mutants --list --json`. It becomes a branch beside the original code:

- a function's value:  `if crate::mutants::on(17) { return Ok(()); }` before the first statement;
- an operator, a guard or a field of a struct literal:  `(if crate::mutants::on(17) { a || b } else { a && b })`;
- a deleted arm of a `match`:  a guard `if !crate::mutants::on(17)`.

The branch of a mutant holds the original text of its operands, so that nested mutants do not multiply: one is on at a time.
"""
import dataclasses

import tree_sitter
import tree_sitter_rust

RUST = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

# Places whose value is computed by the compiler, which cannot look at the environment.
CONSTANT = {"const_item", "static_item", "array_type", "enum_variant", "const_block"}
# Places where an operator is no expression.
PATTERN = {"match_pattern", "tuple_pattern", "tuple_struct_pattern", "struct_pattern", "or_pattern", "range_pattern", "negative_literal"}

# The file that the crate under test gets. Without a chosen mutant each mutant that is reached is printed once.
SWITCH = """
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static CHOSEN: OnceLock<Option<usize>> = OnceLock::new();
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

#[inline(never)]
pub(crate) fn on(id: usize) -> bool {
    let chosen = CHOSEN.get_or_init(|| std::env::var("HINDSIGHT_MUTANT").ok()?.parse().ok());
    if chosen.is_none() && !REACHED[id].swap(true, Ordering::Relaxed) {
        eprintln!("\\nreached mutant {id}");
    }
    *chosen == Some(id)
}
"""


class NotSwitchable(Exception):
    """No branch can hold the mutant; the text says why."""


class Unviable(Exception):
    """The mutant does not compile."""


@dataclasses.dataclass
class Site:
    """A place of the original source, and the id and text of each mutant there.

    An expression, beside which the mutants become branches; or, with `start == end`, a place where text is inserted; or a word
    that is removed when there are mutants, which then have no text.
    """
    start: int
    end: int
    branches: list
    removed: bool = False


def switch(count):
    """The text of the module `mutants` for the ids below `count`."""
    return SWITCH.replace("COUNT", str(count))


def replaced(text, node, start, end, by):
    """The text of a node with a part replaced."""
    return (text[node.start_byte:start] + by + text[end:node.end_byte]).decode()


class Source:
    """One file and the sites of its mutants."""

    def __init__(self, text):
        self.text = text.encode()
        self.root = RUST.parse(self.text).root_node
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.sites = {}

    def offset(self, place):
        """The byte of a line and a column, which counts characters; both begin with 1."""
        start, end = self.lines[place["line"] - 1], self.lines[place["line"]]
        return start + len(self.text[start:end].decode()[:place["column"] - 1].encode())

    def add(self, mutant):
        """Adds a mutant; the place is given by its `span`, the change by `genre` and `replacement`."""
        start, end = self.offset(mutant["span"]["start"]), self.offset(mutant["span"]["end"])
        node = self.root.descendant_for_byte_range(start, end)
        self.leave_constants(mutant, node)
        by = mutant["replacement"].encode()
        match mutant["genre"]:
            case "FnValue":
                if mutant["function"]["return_type"].startswith("-> impl "):
                    raise NotSwitchable("a function with an unnamed type")
                self.insert(mutant, start, f"if {on(mutant)} {{ return {by.decode()}; }} ")
            case "BinaryOperator" | "UnaryOperator":
                whole = node.parent
                if whole.type == "let_chain":
                    raise Unviable("conditions with `let` are joined by `&&` alone")
                if whole.type not in ("binary_expression", "compound_assignment_expr", "unary_expression"):
                    raise NotSwitchable(f"an operator in a {whole.type}")
                self.branch(mutant, whole.start_byte, whole.end_byte, replaced(self.text, whole, start, end, by))
            case "MatchArmGuard":
                if self.text[start:end].startswith(b"let ") or node.type in ("let_chain", "let_condition"):
                    raise Unviable("the guard binds names")
                self.branch(mutant, start, end, by.decode())
            case "MatchArm":
                arm = self.root.descendant_for_byte_range(start, start + 1)
                while arm.type != "match_arm":
                    arm = arm.parent
                if not any(other.type == "match_arm" and other.child_by_field_name("pattern").text == b"_" for other in arm.parent.children):
                    raise Unviable("no other arm takes the values of this one")
                self.insert(mutant, arm.child_by_field_name("pattern").end_byte, f" if !{on(mutant)}")
            case "StructField":
                while node.type != "struct_expression":
                    node = node.parent
                self.branch(mutant, node.start_byte, node.end_byte, replaced(self.text, node, start, end, b""))
            case genre:
                raise NotSwitchable(f"the genre {genre}")

    def leave_constants(self, mutant, node):
        if mutant["function"] is None:
            raise NotSwitchable("a constant")
        while node is not None and node.type != "function_item":
            if node.type in PATTERN and mutant["genre"] in ("BinaryOperator", "UnaryOperator"):
                raise NotSwitchable("a pattern")
            if node.type in CONSTANT:
                raise NotSwitchable("a constant")
            above = node.parent
            # The guard of an arm is within its pattern.
            in_guard = above is not None and above.type == "match_pattern" and above.child_by_field_name("condition") == node
            node = above.parent if in_guard else above
        if node is not None:
            self.without_const(mutant, node)

    def without_const(self, mutant, function):
        """Lets a function be no constant one while it has mutants. The compiler says whether a constant needs it."""
        for modifiers in function.children:
            if modifiers.type == "function_modifiers":
                for word in modifiers.children:
                    if word.type == "const":
                        site = Site(word.start_byte, word.end_byte, [], removed=True)
                        self.sites.setdefault((site.start, site.end), site).branches.append((mutant["id"], ""))

    def insert(self, mutant, at, text):
        self.sites.setdefault((at, at), Site(at, at, [])).branches.append((mutant["id"], text))

    def branch(self, mutant, start, end, text):
        self.sites.setdefault((start, end), Site(start, end, [])).branches.append((mutant["id"], text))

    def render(self, without):
        """The source with the mutants that are not in `without`, and the byte ranges of each in it: of its branch and of its site."""
        sites = sorted(self.sites.values(), key=lambda site: (site.start, site.start != site.end, -site.end))
        return Rendering(self.text, sites, without).finished()


class Rendering:
    """Writes a source with its sites, which lie beside or within each other."""

    def __init__(self, text, sites, without):
        self.text, self.sites, self.without = text, sites, without
        self.out = bytearray()
        self.ranges = {}

    def finished(self):
        self.until(len(self.text), 0)
        return self.out.decode(), self.ranges

    def until(self, end, at):
        """Writes the text from `at` to `end` with the sites that begin there."""
        while self.sites and self.sites[0].start < end:
            site = self.sites.pop(0)
            self.out += self.text[at:site.start]
            at = site.end
            self.site(site)
        self.out += self.text[at:end]

    def site(self, site):
        if site.removed:
            self.out += b"" if any(id not in self.without for id, _ in site.branches) else self.text[site.start:site.end]
            return
        begin, branches = len(self.out), [(id, text.encode()) for id, text in site.branches if id not in self.without]
        expression = site.start != site.end
        spans = {}
        for id, text in branches:
            self.out += f"{'else ' if spans else '('}if {on({'id': id})} {{ ".encode() if expression else b""
            spans[id] = (len(self.out), len(self.out) + len(text))
            self.out += text + (b" } " if expression else b"")
        if expression and spans:
            self.out += b"else { "
        self.until(site.end, site.start)
        if expression and spans:
            self.out += b" })"
        for id, span in spans.items():
            self.ranges[id] = (span, (begin, len(self.out)))


def on(mutant):
    """The condition under which a mutant is on."""
    return f"crate::mutants::on({mutant['id']})"
