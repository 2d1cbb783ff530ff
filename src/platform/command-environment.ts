const PROVIDER_VARIABLE = /^(ANTHROPIC|OPENAI|OPENROUTER|DEEPSEEK|GEMINI|GOOGLE|MISTRAL|GROQ|XAI|ZAI|MOONSHOT|DASHSCOPE)_.*(KEY|TOKEN)$/;
/** They make shells, loaders, git and ssh run other programs, or ask where nobody answers. */
const STEERING_VARIABLE =
  /^(BASH_ENV|ENV|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|SSH_ASKPASS.*|SUDO_ASKPASS|GPG_TTY|ROOCODE_.*)$/;
const NAMED_SECRET = /(^|_)(API_?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/;

/** Pagers print, editors leave at once, and nothing asks for a name or a password. */
const QUIET = {
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  TERM: "dumb",
};

/** What a program that an agent starts may see. The person's own tokens for other tools, such as GITHUB_TOKEN for gh, stay. */
export function commandEnvironment(base: NodeJS.ProcessEnv, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(base).filter(([name]) => !PROVIDER_VARIABLE.test(name) && !STEERING_VARIABLE.test(name));
  return { ...Object.fromEntries(kept), ...QUIET, ...extra };
}

/** The same without anything that is named like a secret, and without the way to the person's tmux: for code of several agents. */
export function checkEnvironment(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(base).filter(([name]) => !NAMED_SECRET.test(name) && !/^TMUX/.test(name));
  return commandEnvironment(Object.fromEntries(kept), { CI: "1" });
}
