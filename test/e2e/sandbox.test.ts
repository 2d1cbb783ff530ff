import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sandboxDescribe } from "../support/contained.ts";
import { fakeModel, inOrder } from "../support/fake-model.ts";
import { testHome } from "../support/home.ts";

const bash = (command: string, more: object = {}) => ({ calls: [{ name: "Bash", input: { command, ...more } }] });
/** In a script of the repository: a command that names these is refused before it runs. */
const ESCAPE = `echo evil >> .git/config
echo evil > ~/notes
echo evil > .roocode/config.local.yaml
cat ~/.ssh/id
echo tried > tried
exit 1
`;
const OUT = "echo evil > ~/notes";

sandboxDescribe("-p with an OS sandbox", () => {
  test("a fooled model's commands run without a question and reach nothing outside; what wants out is denied", async () => {
    await using home = await testHome();
    await mkdir(join(home.home, ".ssh"));
    await writeFile(join(home.home, ".ssh", "id"), "s3cret");
    const config = await readFile(join(home.repo, ".git", "config"), "utf8");
    await using model = await fakeModel(inOrder(bash("sh ./escape.sh"), bash("sh ./out.sh", { unsandboxed: true }), { text: "Done." }));
    await writeFile(join(home.repo, "escape.sh"), ESCAPE);
    await writeFile(join(home.repo, "out.sh"), OUT);
    const { code, stderr } = await home.roocode(["-p", "x"], { env: model.env("anthropic") });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^denied: Bash\(sh .\/out.sh\)[^\n]*\n$/);
    const [, second = "", third = ""] = model.requests.map((request) => JSON.stringify(request));
    expect(second).toContain("Read-only file system");
    expect(second).toContain("this ran in the OS sandbox");
    expect(third).toContain("outside of the OS sandbox");
    expect(third).not.toContain("s3cret");
    expect(await readFile(join(home.repo, "tried"), "utf8")).toBe("tried\n");
    expect(await readFile(join(home.repo, ".git", "config"), "utf8")).toBe(config);
    expect([existsSync(join(home.home, "notes")), existsSync(join(home.repo, ".roocode"))]).toEqual([false, false]);
    const audit = (await readFile(join(home.data, "log", "audit.jsonl"), "utf8")).trim().split("\n");
    expect(audit.map((line) => JSON.parse(line))).toMatchObject([
      { decision: "allow", layer: "mode", reason: "it runs inside the OS sandbox" },
      { decision: "deny" },
    ]);
  });
});

sandboxDescribe("-p with a folder of the repository first on PATH", () => {
  test("starts none of the programs that a command left there", async () => {
    await using home = await testHome();
    const fakes = "for p in bwrap git mkfifo sh bash; do printf '#!/bin/sh\\necho %s >> ~/escaped\\n' $p > node_modules/.bin/$p; done";
    await mkdir(join(home.repo, "node_modules", ".bin"), { recursive: true });
    await using model = await fakeModel(inOrder(bash(`${fakes}; chmod +x node_modules/.bin/*`), bash("echo second"), { text: "Done." }));
    // As `npm exec` and a careless shell have it.
    const path = `./node_modules/.bin:${join(home.repo, "node_modules", ".bin")}:${process.env.PATH}`;
    await writeFile(join(home.repo, "node_modules", ".bin", "mine"), "#!/bin/sh\necho it is found\n", { mode: 0o755 });
    for (const prompt of ["x", "again"])
      expect((await home.roocode(["-p", prompt], { env: { ...model.env("anthropic"), PATH: path } })).code).toBe(0);
    expect(existsSync(join(home.repo, "node_modules", ".bin", "bwrap"))).toBe(true);
    expect(existsSync(join(home.home, "escaped"))).toBe(false);
    await using next = await fakeModel(inOrder(bash("mine"), { text: "Done." }));
    await home.roocode(["-p", "x"], { env: { ...next.env("anthropic"), PATH: path } });
    expect(JSON.stringify(next.requests.at(-1))).toContain("it is found");
  });
});

test("without a sandbox that works a run says so once and goes on; one that is required does not start", async () => {
  await using home = await testHome();
  await using model = await fakeModel(inOrder(bash("echo one"), bash("echo two"), { text: "Done." }));
  // A PATH with what is needed and no bwrap.
  const bin = join(home.home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "bwrap"), "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", { mode: 0o755 });
  const env = { ...model.env("anthropic"), PATH: `${bin}:${process.env.PATH}` };
  const { code, stderr } = await home.roocode(["-p", "x", "--permission-mode", "bypassPermissions"], { env });
  expect(code).toBe(0);
  if (process.platform === "linux")
    expect(stderr).toMatch(/^Commands run without an OS sandbox: bwrap does not start \(bwrap: setting up uid map[^\n]*\n$/);
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.yaml"), "sandbox: required\n");
  const asked = model.requests.length;
  const refused = await home.roocode(["-p", "x"], { env });
  expect(refused.code).not.toBe(0);
  if (process.platform === "linux")
    expect(refused.stderr).toMatch(/^[^\n]*The settings require an OS sandbox[^\n]*bwrap does not start[^\n]*\n$/);
  expect(model.requests.length).toBe(asked);
});
