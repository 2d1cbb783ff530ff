import { familyOf, isAlias } from "../engine/providers/models.ts";
import { cheapModel, type KnownProvider, knownProviders, selectModel } from "../engine/providers/select.ts";
import { UserError } from "../protocol/errors.ts";
import { requireKnownPrice } from "./max-cost.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * The full name of a sub-agent's model. `parent` is that of the one who starts it, and what counts where nothing is wanted or where no
 * provider has what is; then `remark` says so.
 */
export function subagentModel(
  wanted: string | undefined,
  parent: string,
  { settings, env, flags }: Pick<Surroundings, "settings" | "env" | "flags">,
): { model: string; remark?: string } {
  if (wanted === undefined) return { model: parent };
  const options = { providers: settings.providers ?? [], env };
  const [provider = "", model = ""] = splitAtSlash(parent);
  const name = wanted.toLowerCase();
  const found =
    name === "haiku"
      ? cheapModel(options, provider, model)
      : isAlias(name)
        ? ofAlias(`${provider}/${name}`, options)
        : isOffered(wanted, knownProviders(options))
          ? fullName(wanted, options)
          : undefined;
  if (found === undefined) return { model: parent, remark: `No provider here has the model "${wanted}", so it has yours` };
  if (flags.maxCost !== undefined) requireKnownPrice(selectModel({ ...options, model: found }));
  return { model: found };
}

type Options = Parameters<typeof cheapModel>[0];

function fullName(name: string, options: Options): string {
  const selected = selectModel({ ...options, model: name });
  return `${selected.provider}/${selected.model}`;
}

/** A provider without known models has none by that name. */
function ofAlias(name: string, options: Options): string | undefined {
  try {
    return fullName(name, options);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Named with its provider, configured for one, or of a family that one speaks for. */
function isOffered(wanted: string, providers: readonly KnownProvider[]): boolean {
  const family = familyOf(wanted);
  return providers.some(({ name, model, protocol }) => {
    if (wanted.startsWith(`${name}/`) || model === wanted) return true;
    const home = protocol === "anthropic" ? "anthropic" : "openai";
    return family === home && (model === undefined || familyOf(model) === family);
  });
}

function splitAtSlash(name: string): string[] {
  const slash = name.indexOf("/");
  return [name.slice(0, slash), name.slice(slash + 1)];
}
