import { escapeHtml } from "../../platform/html.ts";

type Table = {
  caption: string;
  /** A name of its own on the page, for the region that scrolls where the table is too wide. */
  id: string;
  head: readonly string[];
  /** HTML; the first cell of each names its row. */
  rows: readonly (readonly string[])[];
  /** An id for each row. */
  rowId?: (index: number) => string;
  /** Indexes of columns with figures. */
  figures?: readonly number[];
  total?: readonly string[];
};

/** Wide tables scroll by themselves, by keyboard too; the page does not. */
export function table({ caption, id, head, rows, rowId, figures = [], total }: Table): string {
  const style = (index: number) => (figures.includes(index) ? ' class="figure"' : "");
  const row = (cells: readonly string[], rowAttribute: string) =>
    `<tr${rowAttribute}>${cells.map((cell, index) => (index === 0 ? `<th scope="row">${cell}</th>` : `<td${style(index)}>${cell}</td>`)).join("")}</tr>`;
  return `${scrolls(id, caption)}<table><caption><span>${escapeHtml(caption)}</span></caption>
<thead><tr>${head.map((cell, index) => `<th scope="col"${style(index)}>${escapeHtml(cell)}</th>`).join("")}</tr></thead>
<tbody>
${rows.map((cells, index) => row(cells, rowId ? ` id="${escapeHtml(rowId(index))}"` : "")).join("\n")}
</tbody>${total ? `<tfoot>${row(total, "")}</tfoot>` : ""}</table></div>`;
}

/** Begins a region that is reached by Tab and scrolled by the arrow keys. */
export function scrolls(id: string, label: string): string {
  return `<div class="scroll" id="${escapeHtml(id)}" role="region" tabindex="0" aria-label="${escapeHtml(label)}">`;
}
