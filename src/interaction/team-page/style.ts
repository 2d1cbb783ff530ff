/** After the style of all pages. Colours of bars have a contrast of at least 3 to 1 on the page; words never rest on them alone. */
export const STYLE = `
body { max-width: 72rem; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3 { font-size: 1rem; }
header .goal { font-size: 1.05rem; color: var(--words); margin: .4rem 0 .8rem; }
header summary.goal { font-family: inherit; }
.skip { position: absolute; left: -999rem; } .skip:focus { position: static; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .5rem; margin: 0 0 .8rem; }
.facts div { border: 1px solid var(--line); border-radius: 6px; padding: .35rem .6rem; background: var(--soft); }
dt { font-size: .75rem; color: var(--quiet); } dd { margin: 0; font-weight: 600; } dd .note { font-weight: 400; white-space: nowrap; }
nav ul { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
#live { border-left: 4px solid var(--accent); background: var(--soft); padding: .3rem .8rem; }
.is-good { color: var(--good); } .is-bad { color: var(--bad); } .is-warn { color: var(--warn); } .is-busy { color: var(--accent); }
.text { white-space: pre-wrap; margin: .4rem 0; }
summary { font-family: inherit; } .scroll details, .messages details { border: 0; padding: 0; margin: 0; font-size: inherit; }
code { font: .85em ui-monospace, monospace; }
table { width: 100%; font-size: .875rem; margin: .3rem 0 1rem; } caption { text-align: left; color: var(--quiet); padding: .2rem 0; }
th, td { text-align: left; vertical-align: top; } thead th { background: var(--soft); } tfoot th, tfoot td { font-weight: 600; border-top-width: 2px; }
tbody th { font-weight: 600; } .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; } .scroll th, .scroll td { overflow-wrap: normal; } .scroll td:nth-child(2):not(.figure) { min-width: 9rem; } .scroll th { white-space: nowrap; }
.scroll caption span { display: inline-block; position: sticky; left: 0; max-width: 90vw; }
:is(.scroll, pre, a, summary):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.lanes { table-layout: fixed; } .lanes th:first-child { width: 24%; } .lanes th:last-child, .lanes td:last-child { width: 6.5rem; }
.lanes tbody th { font-weight: 400; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .lanes td { padding: .2rem 0; } .lanes td:last-child { padding: .2rem .5rem; line-height: 1.2; white-space: normal; overflow-wrap: anywhere; }
.lanes thead th:nth-child(2) { padding: .2rem 0; }
.lane { background: linear-gradient(to right, var(--line) 1px, transparent 1px) 0 0 / 25% 100%; vertical-align: middle; }
.lane svg, .axis { display: block; } .axis text { font-size: 11px; font-weight: 400; fill: var(--quiet); }
rect.busy { fill: var(--accent); } rect.good { fill: var(--good); } rect.bad { fill: var(--bad); } rect.warn { fill: var(--warn); }
.graph text { font-size: 13px; fill: var(--words); } .graph .quiet { font-size: 12px; fill: var(--quiet); } .graph .wait { fill: none; stroke: var(--quiet); stroke-width: 1.5; }
.box { fill: var(--soft); stroke: var(--line); stroke-width: 1.5; } .box.in_progress { stroke: var(--accent); stroke-width: 2; } .box.completed { stroke: var(--good); } .box.failed { stroke: var(--bad); stroke-width: 2; }
.messages, .steps { list-style: none; padding: 0; margin: .3rem 0; font-size: .9rem; } .messages li, .steps li { padding: .2rem 0; border-bottom: 1px solid var(--soft); }
.steps details { margin: .2rem 0; border: 0; padding: 0; font-size: inherit; }
time { color: var(--quiet); font-variant-numeric: tabular-nums; font-size: .85em; }
ul { padding-left: 1.2rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 34rem) { body { padding: .6rem; } .facts { grid-template-columns: 1fr 1fr; } .lanes th:first-child { width: 30%; } .lanes th:last-child, .lanes td:last-child { width: 5.2rem; } .lanes tbody th { white-space: normal; }
  .axis text:nth-child(2) { display: none; } }
@media print { :root { --page: #ffffff; --words: #1a1a1a; --quiet: #595959; --line: #c4c4c4; --soft: #f4f4f4; --accent: #1d5fa8; --good: #19692c; --bad: #b3261e; --warn: #805300; }
  nav, #live, .skip { display: none; } body { max-width: none; font-size: 11pt; } .scroll { overflow: visible; } tr, li { break-inside: avoid; } h2 { break-after: avoid; }
  rect, .lane, thead th { print-color-adjust: exact; } }
@media print { details:not(.steps details)::details-content { content-visibility: visible; block-size: auto; } }
`;
