import * as z from "zod";
import { defineTool } from "../../protocol/define-tool.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { WebOptions } from "../web/fetch-for-model.ts";

const schema = z.object({
  url: z.string().min(1).describe("Address of one page or file, https:// or http://."),
  offset: z.int().min(0).optional().describe("Character to go on at, for a text that was cut."),
});

export function webFetchTool(options: WebOptions): Tool {
  return defineTool({
    name: "WebFetch",
    description:
      "Fetches one web address by GET and returns its text: HTML as Markdown, other text as it is, at most 30,000 characters at a time. A redirect to another host is not followed but named. Sends no cookies or keys. Not for git hosts' private pages or large files.",
    schema,
    access: ({ url }) => ({ kind: "command", subject: url }),
    isConcurrencySafe: () => true,
    async run(input, { signal }) {
      const { fetchForModel } = await import("../web/fetch-for-model.ts");
      return fetchForModel(input, options, signal);
    },
  });
}
