// A lead that only reports what it was given: node fake-lead.mjs team --handover FILE. It ends when FOLDER/end holds an exit code.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";

const [command, flag, file] = process.argv.slice(2);
const handover = JSON.parse(readFileSync(file, "utf8"));
const folder = handover.env.FAKE_LEAD_FOLDER;
const mode = (statSync(file).mode & 0o777).toString(8);
const report = { words: [command, flag], mode, handover, pane: process.env.TMUX_PANE, hasKey: "ANTHROPIC_API_KEY" in process.env };
writeFileSync(`${folder}/lead.tmp`, JSON.stringify(report));
renameSync(`${folder}/lead.tmp`, `${folder}/lead`);
setInterval(() => {
  // A file comes to be empty first.
  const code = existsSync(`${folder}/end`) ? readFileSync(`${folder}/end`, "utf8") : "";
  if (code === "") return;
  console.log("All is merged.\n\nThree commits.");
  process.exit(Number(code));
}, 20);
