import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { containedShell, type Place, sandboxDescribe } from "../../support/contained.ts";
import { tempFolder } from "../../support/temp.ts";

type Shell = Awaited<ReturnType<typeof containedShell>>;

const SECRET = "s3cret-of-a-person";

async function prepare({ home, data, repo }: Place): Promise<void> {
  const files: Record<string, string> = {
    ".ssh/id_ed25519": SECRET,
    ".aws/credentials": SECRET,
    ".gnupg/private": SECRET,
    ".netrc": SECRET,
    ".config/gcloud/token": SECRET,
    ".kube/config": SECRET,
    ".docker/config.json": SECRET,
    ".roocode/teams/team/keys/bob": SECRET,
    ".roocode/teams/team/inboxes/bob/new/1.json": SECRET,
    ".roocode/teams/team/tasks/1/1.json": SECRET,
    ".bashrc": "# mine\n",
    ".gitconfig": "[alias]\n",
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  }
  await writeFile(join(home, "notes.txt"), "mine");
  await symlink(join(home, "notes.txt"), join(repo, "out-file"));
  await symlink(home, join(repo, "out-folder"));
  expect(existsSync(data)).toBe(true);
}

/** Every text below a folder, to see that nothing has changed. Git's objects are many and may grow. */
async function everything(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile() && !/objects/.test(one.parentPath));
  return Object.fromEntries(
    await Promise.all(files.map(async (one) => [join(one.parentPath, one.name), await readFile(join(one.parentPath, one.name), "utf8")])),
  );
}

/** All in one command, each in a shell of its own: whether it failed. */
async function tryAll({ run }: Shell, attempts: readonly (readonly [string, string])[]): Promise<ReadonlyMap<string, boolean>> {
  const { text } = await run(
    attempts.map(([, command], index) => `bash -c ${quoted(command)} >/dev/null 2>&1; echo "attempt ${index}: $?"`).join("\n"),
  );
  return new Map(attempts.map(([, command], index) => [command, new RegExp(`^attempt ${index}: [1-9]`, "m").test(text)]));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const node = (script: string) => `${JSON.stringify(process.execPath)} -e ${JSON.stringify(script)}`;
const connect = (to: string) =>
  node(
    `require('net').connect(${to}).on('connect',()=>{console.log('REACHED');process.exit()}).on('error',(e)=>{console.log('refused',e.code);process.exit(1)})`,
  );

sandboxDescribe("a command in the OS sandbox, in a plain checkout, can't", () => {
  let shell: Shell;
  let before: Record<string, string>;
  let failed: ReadonlyMap<string, boolean>;
  beforeAll(async () => {
    shell = await containedShell({ prepare });
    await shell.run("true");
    before = await everything(shell.home);
    failed = await tryAll(shell, attempts);
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  const attempts: [string, string][] = [
    ["write beside its checkout", "echo x > ~/notes.txt"],
    ["write into the system", "touch /etc/roocode-was-here /usr/roocode-was-here"],
    ["write through /proc/self/root", `echo x > /proc/self/root$HOME/notes.txt`],
    ["write through the root of process 1", `echo x > /proc/1/root$HOME/notes.txt`],
    ["write through the root of the agent's process", `echo x > /proc/${process.pid}/root$HOME/notes.txt`],
    ["write through a link to a file outside", "echo x > out-file"],
    ["write through a link to a folder outside", "echo x > out-folder/notes.txt"],
    ["write through a link that it makes", "ln -s $HOME mine && echo x > mine/notes.txt"],
    ["write to a hard link of a file outside", "ln ~/notes.txt hard && echo x > hard"],
    ["change git's configuration", "echo '[core]fsmonitor=x' >> .git/config"],
    ["let git change its configuration", "git config core.fsmonitor ./evil"],
    ["replace git's configuration", "echo x > c && mv -f c .git/config"],
    ["remove git's configuration", "rm -f .git/config"],
    ["put a hook in place", "echo evil > .git/hooks/post-merge"],
    ["move the folder of hooks away", "mv .git/hooks .git/old"],
    ["write git's attributes", "mkdir -p .git/info && echo '* filter=x' > .git/info/attributes"],
    ["move .git away and put its own in place", "mv .git x && cp -r x .git"],
    ["change the record of another worktree", "echo /x > .git/worktrees/bob/commondir"],
    ["make settings where none were", "mkdir -p .roocode; echo x > .roocode/config.local.yaml"],
    ["put a folder of its own in place of .roocode", "rmdir .roocode; mv .roocode x; mkdir .roocode && echo x > .roocode/config.yaml"],
    ["write mail", "mkdir -p ~/.roocode/teams/team/inboxes/bob/new; echo x > ~/.roocode/teams/team/inboxes/bob/new/2.json"],
    ["write tasks", "echo x > ~/.roocode/teams/team/tasks/1/1.json"],
    ["change RooCode's settings", "echo x > ~/.roocode/config.yaml"],
    ["write into another worktree", "echo x > ~/.roocode/worktrees/repo-1/team/bob/README.md"],
    ["change a shell's start file", "echo evil >> ~/.bashrc"],
    ["make a shell's start file", "echo evil > ~/.zshrc"],
    ["change the person's git configuration", "git config --global core.pager evil"],
    ["mount", "mount -t tmpfs none src"],
    ["make what is read-only writable", "mount -o remount,rw,bind .git/config"],
    ["unmount a protection", "umount .git/config"],
    [
      "do it in a user namespace of its own",
      "unshare -rm sh -c 'umount .git/config || mount -o remount,rw,bind .git/config; echo x >> .git/config'",
    ],
    ["enter another namespace", `nsenter -t 1 -m sh -c 'echo x > ~/notes.txt'; nsenter -t ${process.pid} -a true`],
    ["change the kernel's settings", "cat /proc/sys/kernel/core_pattern > saved; cat saved > /proc/sys/kernel/core_pattern"],
    ["end the agent", `kill -9 ${process.pid}`],
    ["look at the agent's environment", `cat /proc/${process.pid}/environ`],
  ];
  for (const [name, command] of attempts) test(name, () => expect(failed.get(command)).toBe(true));

  test("change anything outside by all of that", async () => {
    // What it leaves in its own checkout is its work.
    const inside = (path: string) => path.startsWith(`${shell.repo}/`) && !/\/\.(git|roocode)\//.test(path);
    const outside = (files: Record<string, string>) => Object.fromEntries(Object.entries(files).filter(([path]) => !inside(path)));
    expect(outside(await everything(shell.home))).toEqual(outside(before));
    expect(existsSync("/etc/roocode-was-here") || existsSync("/usr/roocode-was-here")).toBe(false);
  });

  test("find anything of the kernel that it could write", async () => {
    const own = "-path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune";
    expect(
      (
        await shell.run(
          `find /proc -maxdepth 3 ${own} -o -not -type l -writable -print 2>/dev/null; find /sys -maxdepth 3 -writable -not -type l`,
        )
      ).text,
    ).toBe("(no output)");
  });

  test("read keys, tokens, mail or conversations", async () => {
    const { text } = await shell.run(
      `grep -rs "s3cret-of" ~ /tmp; cat ~/.ssh/id_ed25519 ~/.netrc ~/.docker/config.json; ls -A ~/.ssh ~/.gnupg ~/.roocode`,
    );
    expect(text).not.toContain(SECRET);
    expect(text).toContain("worktrees");
    expect(text).not.toMatch(/^(teams|id_ed25519|private|config.yaml)$/m);
  });

  test("lead git to another folder by a name that was not there", async () => {
    const { text } = await shell.run("mkdir evil && cp -r .git/. evil && echo ../evil > .git/commondir; echo '{}' > .mcp.json");
    expect(existsSync(join(shell.repo, ".git/commondir"))).toBe(false);
    expect(existsSync(join(shell.repo, ".mcp.json"))).toBe(false);
    expect(text).toContain("the OS sandbox keeps");
  });

  test("take away what was moved aside before it", async () => {
    for (const word of ["first", "second"]) await shell.run(`echo ${word} > .mcp.json`);
    const names = (await readdir(shell.repo)).filter((name) => name.startsWith(".mcp.json")).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(shell.repo, name), "utf8")));
    expect(texts).toEqual(expect.arrayContaining(["first\n", "second\n"]));
    await Promise.all(names.map((name) => rm(join(shell.repo, name))));
  });

  test("leave anything behind but its work", async () => {
    await shell.run("true");
    expect(existsSync(join(shell.repo, ".roocode"))).toBe(false);
    expect((await readdir(shell.home)).sort()).toEqual(
      [".aws", ".bashrc", ".config", ".docker", ".gitconfig", ".gnupg", ".kube", ".netrc", ".roocode", ".ssh", "notes.txt", "repo"].sort(),
    );
  });
});

sandboxDescribe("a command in the OS sandbox can't reach", () => {
  const servers: Server[] = [];
  let shell: Shell;
  const listen = (where: string | number) =>
    new Promise<Server>((resolve) => {
      const server = createServer((socket) => socket.end("hello")).listen(where, () => resolve(server));
      servers.push(server);
    });
  beforeAll(async () => {
    shell = await containedShell({
      env: { SSH_AUTH_SOCK: "/tmp/agent", TMUX: "/tmp/tmux-0/default,1,0", DISPLAY: ":0", DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus" },
    });
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await shell[Symbol.asyncDispose]();
  });

  test("a Unix socket in /tmp", async () => {
    await using folder = await tempFolder("roocode-socket");
    const path = join(folder.path, "s");
    await listen(path);
    const { text } = await shell.run(connect(JSON.stringify(path).replaceAll('"', "'")));
    expect(text).toContain("refused ENOENT");
  });

  test("a Unix socket in the home, in a folder that it may read", async () => {
    const path = join(shell.home, "service.sock");
    await listen(path);
    const { text } = await shell.run(connect(`'${path}'`));
    expect(text).toMatch(/refused (ECONNREFUSED|EACCES)/);
  });

  test("a Unix socket in its own checkout that a program outside opened", async () => {
    const path = join(shell.repo, "dev.sock");
    await listen(path);
    expect((await shell.run(connect(`'${path}'`))).text).toMatch(/refused (ECONNREFUSED|EACCES)/);
  });

  test("a socket in /run", async () => {
    expect((await shell.run("find /run /var/run/ -type s; ls -A /run; touch /run/x")).text).toMatch(/^touch: [^\n]*Read-only/);
  });

  test("an abstract socket", async () => {
    const name = `roocode-${process.pid}`;
    await listen(`\0${name}`);
    expect((await shell.run(connect(`'\\\\0${name}'`))).text).toContain("refused");
  });

  test("loopback of the machine", async () => {
    const server = await listen(0);
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    expect((await shell.run(connect(`${port},'127.0.0.1'`))).text).toContain("refused");
    expect((await shell.run(`exec 9<>/dev/tcp/127.0.0.1/${port}`)).isError).toBe(true);
  });

  test("the network, and the model is told how to go on", async () => {
    const { text } = await shell.run(connect("80,'192.0.2.1'"));
    expect(text).toContain("ENETUNREACH");
    expect(text).toContain("unsandboxed: true");
  });

  test("agents, desktops and panes that the environment names", async () => {
    expect((await shell.run("env")).text).not.toMatch(/^(SSH_AUTH_SOCK|TMUX|DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR)=/m);
  });
});

sandboxDescribe("a teammate's command in the OS sandbox can't", () => {
  let shell: Shell;
  let before: Record<string, string>;
  let failed: ReadonlyMap<string, boolean>;
  beforeAll(async () => {
    shell = await containedShell({ root: ({ worktree }) => worktree });
    await shell.run("true");
    before = await everything(shell.home);
    failed = await tryAll(shell, attempts);
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  const common = "$(git rev-parse --git-common-dir)";
  const attempts: [string, string][] = [
    ["write into the primary checkout", "echo x > ~/repo/README.md"],
    ["change the common configuration", `echo '[core]fsmonitor=x' >> ${common}/config`],
    ["let git change the common configuration", "git config core.fsmonitor ./evil"],
    ["put a hook where the lead's git looks", `echo evil > ${common}/hooks/post-merge`],
    ["write the common attributes", `echo '* filter=x' > ${common}/info/attributes`],
    ["move the primary checkout's HEAD", `echo 'ref: refs/heads/x' > ${common}/HEAD`],
    ["touch another teammate's record", `echo /x > ${common}/worktrees/bob/commondir`],
    ["make another record", `mkdir ${common}/worktrees/eve`],
    ["lead its own record elsewhere", `echo /x > ${common}/worktrees/alice/commondir`],
    ["turn its .git pointer", "echo 'gitdir: /x' > .git"],
    ["replace its .git pointer", "rm -f .git; mv .git x; mkdir .git"],
    ["write into another worktree", "echo x > ../bob/README.md"],
    ["move the common folder away", `mv ${common} ${common}.x`],
  ];
  for (const [name, command] of attempts) test(name, () => expect(failed.get(command)).toBe(true));

  test("change anything by all of that", async () => expect(await everything(shell.home)).toEqual(before));
});

sandboxDescribe("the OS sandbox is not led astray by", () => {
  test("a forged .git pointer to another repository", async () => {
    await using shell = await containedShell({
      root: ({ home }) => join(home, "forged"),
      prepare: async ({ home, repo }) => {
        await mkdir(join(home, "forged"));
        await writeFile(join(home, "forged", ".git"), `gitdir: ${repo}/.git/worktrees/alice\n`);
      },
    });
    expect((await shell.run("echo x > ~/repo/.git/refs/heads/evil; echo x > ~/repo/.git/worktrees/alice/HEAD")).isError).toBe(true);
    expect(existsSync(join(shell.repo, ".git/refs/heads/evil"))).toBe(false);
  });

  test("a record of its own that names another repository as its common folder", async () => {
    await using shell = await containedShell({
      root: ({ home }) => join(home, "forged"),
      prepare: async ({ home, repo }) => {
        const admin = join(home, "forged", "x", "worktrees", "n");
        await mkdir(admin, { recursive: true });
        await writeFile(join(home, "forged", ".git"), `gitdir: ${admin}\n`);
        await writeFile(join(admin, "gitdir"), `${join(home, "forged", ".git")}\n`);
        await writeFile(join(admin, "commondir"), `${repo}/.git\n`);
      },
    });
    expect((await shell.run("echo x > ~/repo/.git/refs/heads/evil")).isError).toBe(true);
  });

  test("a root that is a link: what it leads to may be written, and nothing beside it", async () => {
    await using shell = await containedShell({
      root: ({ home }) => join(home, "link"),
      prepare: async ({ home, repo }) => symlink(repo, join(home, "link")),
    });
    const { text, isError } = await shell.run("echo x > new && git config a.b c");
    expect(isError).toBe(true);
    expect(text).not.toContain("new");
    expect(existsSync(join(shell.repo, "new"))).toBe(true);
    expect((await shell.run("rm ~/link; ln -s / ~/link")).isError).toBe(true);
  });

  test("a .roocode that is a link: the link stays, and what it leads to is not written", async () => {
    await using shell = await containedShell({
      prepare: async ({ repo }) => {
        await mkdir(join(repo, "shared"));
        await symlink("shared", join(repo, ".roocode"));
      },
    });
    const { text } = await shell.run("echo x > shared/config.yaml; rm .roocode; mkdir .roocode; echo x > .roocode/config.yaml");
    expect(text).toContain("the OS sandbox keeps");
    expect(existsSync(join(shell.repo, ".roocode/config.yaml"))).toBe(false);
  });

  test("a home that is the checkout: start files and keys stay out of reach, there or not", async () => {
    await using shell = await containedShell({
      root: ({ home }) => home,
      prepare: async ({ home }) => {
        await writeFile(join(home, ".bashrc"), "# mine\n");
        await mkdir(join(home, ".config", "git"), { recursive: true });
        await writeFile(join(home, ".config", "git", "config"), "# mine\n");
      },
    });
    await shell.run(
      "echo evil >> .bashrc; echo evil > .zshrc; mv .config x; mkdir -p .config/git; echo evil > .config/git/config; echo x > .roocode/config.yaml; echo fine > fine",
    );
    expect(await readFile(join(shell.home, ".bashrc"), "utf8")).toBe("# mine\n");
    expect(await readFile(join(shell.home, ".config/git/config"), "utf8")).toBe("# mine\n");
    expect(await readFile(join(shell.home, ".roocode/config.yaml"), "utf8")).toBe("model: x\n");
    expect(existsSync(join(shell.home, ".zshrc"))).toBe(false);
    expect(existsSync(join(shell.home, "fine"))).toBe(true);
  });
});
