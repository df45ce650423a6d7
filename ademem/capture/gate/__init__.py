"""The write gate: decides if a draft becomes a memory, and which one it merges into."""

from ademem.capture.gate.form import Gate as Gate
from ademem.capture.gate.form import Reject as Reject
from ademem.capture.gate.form import RuleEffect as RuleEffect
from ademem.capture.gate.rules import judge as judge
from ademem.capture.gate.writing import Written as Written
from ademem.capture.gate.writing import corroborate as corroborate
from ademem.capture.gate.writing import draft_change as draft_change
from ademem.capture.gate.writing import explain as explain
from ademem.capture.gate.writing import fill as fill
from ademem.capture.gate.writing import propose as propose
from ademem.capture.gate.writing import write as write
