"""A question before an act, with a field for its answer."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static, TextArea

from ademem.core.untrusted import visible


class Question(ModalScreen[str | None]):
    """A question with a field for the answer; None where it is left."""

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical { border: heavy; width: 90%; height: auto; max-height: 90%; }
    Question VerticalScroll { height: auto; max-height: 8; }
    Question TextArea { height: 8; }
    """
    BINDINGS: ClassVar = [("escape", "dismiss(None)"), ("ctrl+s", "save")]

    def __init__(self, label: str, field: TextArea | Input | OptionList) -> None:
        super().__init__()
        self.label, self.field = label, field

    def compose(self) -> ComposeResult:
        end = "Ctrl-S saves" if isinstance(self.field, TextArea) else "Enter takes it"
        with Vertical():
            yield VerticalScroll(Static(Content(visible(self.label))), can_focus=False)
            yield Static(f"({end}, Esc leaves it)")
            yield self.field

    def on_mount(self) -> None:
        self.field.focus()
        if isinstance(self.field, TextArea):
            self.field.move_cursor(self.field.document.end)

    def action_save(self) -> None:
        if isinstance(self.field, TextArea):
            self.dismiss(self.field.text.strip() or None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(str(event.option.prompt).split()[0])

    def on_key(self, event: Any) -> None:
        options = self.field.options if isinstance(self.field, OptionList) else ()
        for name in (str(each.prompt).split()[0] for each in options):
            if event.character and name.startswith(event.character):
                self.dismiss(name)
