(() => {
  "use strict";
  // Sorting: a button in every head of a sortable table; without script there is none to press.
  const value = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.trim();
    const n = Number(text);
    return text !== "" && !Number.isNaN(n) ? n : text === "" ? -Infinity : text;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.dataset.fixed !== undefined) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = head.getAttribute("aria-sort");
        const first = head.classList.contains("num") && !head.dataset.up ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const now = order === first ? other : first;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", now);
        const sign = now === "ascending" ? 1 : -1;
        const body = table.tBodies[0];
        [...body.rows]
          .sort((a, b) => sign * compare(value(a.cells[column]), value(b.cells[column])))
          .forEach((row) => body.append(row));
      });
    });
  });
  // Hover: the line under the pointer stands out and says its name.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  document.querySelectorAll("svg[data-hover]").forEach((svg) => {
    const lines = [...svg.querySelectorAll("[data-note]")];
    const leave = () => {
      tip.hidden = true;
      lines.forEach((line) => line.classList.remove("loud", "quiet"));
    };
    lines.forEach((line) => {
      line.querySelector("title")?.remove();
      line.addEventListener("pointermove", (event) => {
        lines.forEach((other) => {
          other.classList.toggle("loud", other === line);
          other.classList.toggle("quiet", other !== line);
        });
        tip.textContent = line.dataset.note;
        tip.hidden = false;
        const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
        tip.style.left = Math.max(8, Math.min(event.clientX + 14, room)) + "px";
        tip.style.top = Math.max(8, event.clientY - tip.offsetHeight - 12) + "px";
      });
      line.addEventListener("pointerleave", leave);
    });
    svg.addEventListener("pointerleave", leave);
  });
})();
