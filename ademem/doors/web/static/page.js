// Focus of the search box by "/"; everything else works by forms.
"use strict";
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  (document.getElementById("words") || document.getElementById("find")).focus();
});
