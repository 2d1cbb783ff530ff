import { agent, MessageTooLargeError, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import { packageVersion } from "../../platform/package.ts";
import { NoProvider, UserError } from "../../protocol/errors.ts";
import { reportError } from "../report-error.ts";
import { Editor } from "./editor.ts";
import { modeState } from "./modes.ts";
import type { AcpSession } from "./session.ts";
import { type AcpArguments, AcpSessions } from "./sessions.ts";

type Streams = { input: ReadableStream<Uint8Array>; output: WritableStream<Uint8Array>; note: (text: string) => void };

/** One prompt with its images. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;

/**
 * Speaks the Agent Client Protocol until the editor goes away or the signal comes; then what runs is stopped and saved. Gives the exit
 * code.
 */
export async function serveAcp(args: AcpArguments, { input, output, note }: Streams, signal: AbortSignal): Promise<number> {
  const opened = (session: AcpSession) => {
    // The answer to the request goes out first.
    setImmediate(() => void session.tellOpened().catch((error: unknown) => reportError(error, false)));
    return { modes: modeState(session.mode) };
  };

  const app = agent({ name: "roocode" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      editor.capabilities = params.clientCapabilities;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "roocode", title: "RooCode", version: packageVersion() },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.authenticate, () => {
      throw RequestError.invalidParams(
        undefined,
        "there is nothing to sign in to: the model's key comes from the environment or from ~/.roocode/config.yaml",
      );
    })
    .onRequest(methods.agent.session.new, ({ params }) =>
      guarded(async () => {
        const session = await sessions.begin(params);
        return { sessionId: session.id, ...opened(session) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params }) => guarded(async () => opened(await sessions.goOn(params.sessionId, params, true))))
    .onRequest(methods.agent.session.resume, ({ params }) =>
      guarded(async () => opened(await sessions.goOn(params.sessionId, params, false))),
    )
    .onRequest(methods.agent.session.list, ({ params }) => guarded(() => sessions.list(params.cwd ?? process.cwd())))
    .onRequest(methods.agent.session.close, ({ params }) => guarded(() => sessions.close(params.sessionId)))
    .onRequest(methods.agent.session.setMode, ({ params }) => guarded(() => sessions.setMode(params.sessionId, params.modeId)))
    .onRequest(methods.agent.session.prompt, ({ params, signal: cancelled }) =>
      guarded(() => sessions.get(params.sessionId).prompt(params.prompt, cancelled)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.find(params.sessionId)?.cancel());

  const connection = app.connect(ndJsonStream(output, input, { maxMessageBytes: MAX_MESSAGE_BYTES }));
  // Both are there before the first message is read.
  const editor = new Editor(connection.client, connection.signal, note);
  const sessions = new AcpSessions(args, editor);
  const close = () => connection.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  await connection.closed;
  await sessions[Symbol.asyncDispose]();
  if (!(connection.signal.reason instanceof MessageTooLargeError)) return 0;
  note(`The editor sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB, so the connection was closed. Send smaller images.`);
  return 1;
}

/** A mistake of the person is told in its own words; what is a bug is logged whole and told in short. */
async function guarded<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof NoProvider) throw RequestError.authRequired(undefined, error.message);
    if (error instanceof UserError) throw RequestError.invalidParams(undefined, error.message);
    await reportError(error, false);
    throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error));
  }
}
