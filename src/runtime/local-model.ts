import { join } from "node:path";
import * as z from "zod";
import { type LocalModel, type LocalServer, probeLocal, titleOf } from "../engine/providers/local-probe.ts";
import type { ProviderSettings } from "../engine/providers/settings.ts";
import { isUnwritable, readOddFile, writeAtomic } from "../platform/files.ts";
import type { Surroundings } from "./surroundings.ts";
import { PROVIDER_VARIABLES, wantsLocal } from "./wanted-model.ts";

const Answers = z.object({ accepted: z.array(z.string()), refused: z.array(z.string()) });
type Answers = z.output<typeof Answers>;
type Probe = (urls: Partial<Record<LocalServer, string>>) => Promise<LocalModel | undefined>;
type LocalOptions = {
  /** Asked once for each model, where a person sits; without it only `model: local` takes a local server. */
  ask?: ((question: string) => Promise<string | undefined>) | undefined;
  probe?: Probe;
};

/** Surroundings in which the local server that was found is a provider and its model is the one that was asked for; else as they were. */
export async function withLocalModel(surroundings: Surroundings, { ask, probe = probeLocal }: LocalOptions = {}): Promise<Surroundings> {
  const { settings, flags, data } = surroundings;
  const providers = settings.providers ?? [];
  const found = await probe(Object.fromEntries(providers.flatMap(({ name, baseUrl }) => (baseUrl ? [[name, baseUrl]] : []))));
  if (!found) return withoutLocal(surroundings);
  if (!wantsLocal(surroundings) && !(await isAccepted(join(data.root, "local-models.json"), found, ask))) return withoutLocal(surroundings);
  const own = providers.find(({ name }) => name === found.provider);
  const provider: ProviderSettings = {
    name: found.provider,
    baseUrl: found.baseUrl,
    ...(found.contextWindow === undefined ? {} : { contextWindow: found.contextWindow }),
    ...own,
    model: found.model,
  };
  return {
    ...surroundings,
    settings: { ...settings, providers: [...providers.filter((one) => one !== own), provider] },
    flags: { ...flags, model: `${found.provider}/${found.model}` },
  };
}

/** "local" means no other provider: with none left, the model is missed in the usual words. */
function withoutLocal(surroundings: Surroundings): Surroundings {
  if (!wantsLocal(surroundings)) return surroundings;
  const env = Object.fromEntries(Object.entries(surroundings.env).filter(([name]) => !PROVIDER_VARIABLES.includes(name)));
  return { ...surroundings, env, settings: { ...surroundings.settings, providers: [] } };
}

async function isAccepted(path: string, { provider, model }: LocalModel, ask: LocalOptions["ask"]): Promise<boolean> {
  const name = `${provider}/${model}`;
  const answers = await readAnswers(path);
  if (answers.accepted.includes(name)) return true;
  if (!ask || answers.refused.includes(name)) return false;
  const answer = await ask(`Found ${model} on ${titleOf(provider)}, use it? [Y/n] `);
  // No answer at all is not one to remember.
  if (answer === undefined) return false;
  const isYes = /^\s*(y|yes|)\s*$/i.test(answer);
  const list = isYes ? "accepted" : "refused";
  await writeAtomic(path, `${JSON.stringify({ ...answers, [list]: [...answers[list], name] }, undefined, 2)}\n`).catch((error: unknown) => {
    // Then it is asked again the next time.
    if (!isUnwritable(error)) throw error;
  });
  return isYes;
}

/** What can't be read was never answered. */
async function readAnswers(path: string): Promise<Answers> {
  const { text = "" } = await readOddFile(path);
  try {
    return Answers.parse(JSON.parse(text));
  } catch {
    return { accepted: [], refused: [] };
  }
}
