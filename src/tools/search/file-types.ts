/** Named as ripgrep names its types; these patterns are given to it, so that the walker of our own finds the same files. */
const TYPES: Record<string, readonly string[]> = {
  c: ["*.c", "*.h"],
  cpp: ["*.cpp", "*.cc", "*.cxx", "*.C", "*.h", "*.hpp", "*.hh", "*.hxx", "*.inl"],
  cs: ["*.cs"],
  css: ["*.css", "*.scss"],
  dart: ["*.dart"],
  docker: ["*Dockerfile*"],
  elixir: ["*.ex", "*.eex", "*.exs", "*.heex"],
  go: ["*.go"],
  graphql: ["*.graphql", "*.graphqls"],
  haskell: ["*.hs", "*.lhs"],
  html: ["*.htm", "*.html"],
  java: ["*.java", "*.jsp", "*.properties"],
  js: ["*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"],
  json: ["*.json", "*.jsonl", "*.jsonc"],
  kotlin: ["*.kt", "*.kts"],
  lua: ["*.lua"],
  make: ["Makefile", "makefile", "GNUmakefile", "*.mk"],
  md: ["*.md", "*.mdx", "*.markdown"],
  php: ["*.php", "*.phtml"],
  protobuf: ["*.proto"],
  py: ["*.py", "*.pyi"],
  ruby: ["*.rb", "*.rake", "*.gemspec", "Gemfile", "Rakefile"],
  rust: ["*.rs"],
  scala: ["*.scala", "*.sbt"],
  sh: ["*.sh", "*.bash", "*.zsh", "*.ksh"],
  sql: ["*.sql", "*.psql"],
  svelte: ["*.svelte", "*.svelte.ts"],
  swift: ["*.swift"],
  toml: ["*.toml", "Cargo.lock"],
  ts: ["*.ts", "*.tsx", "*.cts", "*.mts"],
  txt: ["*.txt"],
  vue: ["*.vue"],
  xml: ["*.xml", "*.xsl", "*.xslt", "*.xsd", "*.dtd", "*.xhtml"],
  yaml: ["*.yaml", "*.yml"],
  zig: ["*.zig"],
};
const OTHER_NAMES: Record<string, string> = {
  typescript: "ts",
  tsx: "ts",
  javascript: "js",
  jsx: "js",
  python: "py",
  markdown: "md",
  rs: "rust",
  rb: "ruby",
  bash: "sh",
  shell: "sh",
  csharp: "cs",
  "c++": "cpp",
  yml: "yaml",
  proto: "protobuf",
  kt: "kotlin",
  hs: "haskell",
};

export const TYPE_NAMES = Object.keys(TYPES);

/** Patterns of base names; undefined for a type that is not known. */
export function namesOfType(type: string): readonly string[] | undefined {
  const name = Object.hasOwn(OTHER_NAMES, type) ? OTHER_NAMES[type] : type;
  return name !== undefined && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
}
