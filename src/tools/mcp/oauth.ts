import { randomUUID } from "node:crypto";
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { type SignIn, SignInNeeded } from "./connection.ts";
import type { Loopback } from "./loopback.ts";
import type { OAuthConfig } from "./schema.ts";

const SIGN_IN_MS = 300_000;

/** What is known of one server: by issuer, for a server that changes its issuer must not get the keys of another. */
export type Credentials = {
  port?: number | undefined;
  lastIssuer?: string | undefined;
  clients: Record<string, StoredOAuthClientInformation>;
  tokens: Record<string, StoredOAuthTokens>;
};
export type CredentialStore = {
  read(): Promise<Credentials>;
  change(change: (credentials: Credentials) => Credentials): Promise<void>;
};

type Browser = { loopback: Loopback; open: (url: URL) => void | Promise<void> };

/** Signs in with what is kept, and where that is not enough and a browser can be opened, with a person. */
export function signInWith(store: CredentialStore, config: OAuthConfig, browser: Browser | undefined): SignIn {
  const provider = new Provider(store, config, browser);
  if (!browser) return { provider };
  return {
    provider,
    async callback(signal) {
      const params = await browser.loopback.next(AbortSignal.any([signal, AbortSignal.timeout(SIGN_IN_MS)]));
      // The SDK does not compare it.
      if (params.get("state") !== provider.expectedState) throw new Error("the sign-in came back with a state that is not the one sent");
      return params;
    },
    finish: (exchange) => provider.whileReturning(exchange),
  };
}

class Provider implements OAuthClientProvider {
  expectedState: string | undefined;
  readonly clientMetadataUrl?: string;
  readonly #store: CredentialStore;
  readonly #config: OAuthConfig;
  readonly #browser: Browser | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  #isReturning = false;

  constructor(store: CredentialStore, config: OAuthConfig, browser: Browser | undefined) {
    this.#store = store;
    this.#config = config;
    this.#browser = browser;
    if (config.clientMetadataUrl !== undefined) this.clientMetadataUrl = config.clientMetadataUrl;
  }

  get redirectUrl(): string {
    return this.#browser?.loopback.url ?? "http://127.0.0.1/callback";
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "RooCode",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
    };
  }

  state(): string {
    this.expectedState = randomUUID();
    return this.expectedState;
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#config;
    if (clientId !== undefined) return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
    const { clients, lastIssuer } = await this.#store.read();
    const known = clients[context?.issuer ?? lastIssuer ?? ""];
    // Registered with another port: servers that compare addresses to the letter would refuse it.
    const isOther = known && "redirect_uris" in known && !known.redirect_uris.some((one) => String(one) === this.redirectUrl);
    return this.#browser && isOther ? undefined : known;
  }

  async saveClientInformation(information: StoredOAuthClientInformation, context?: OAuthClientInformationContext): Promise<void> {
    if (this.#config.clientId !== undefined) return;
    const port = this.#browser?.loopback.port;
    await this.#store.change((now) => ({
      ...now,
      port: port ?? now.port,
      clients: { ...now.clients, [issuerOf(context, now)]: information },
    }));
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { tokens, lastIssuer } = await this.#store.read();
    return tokens[context?.issuer ?? lastIssuer ?? ""];
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    await this.#store.change((now) => {
      const issuer = issuerOf(context, now);
      return { ...now, lastIssuer: issuer, tokens: { ...now.tokens, [issuer]: tokens } };
    });
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    if (!this.#browser) throw new SignInNeeded();
    await this.#browser.open(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  /** For the way back only: an issuer that was right before may be another the next time. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#isReturning ? this.#discovery : undefined;
  }

  async whileReturning(exchange: () => Promise<void>): Promise<void> {
    this.#isReturning = true;
    try {
      await exchange();
    } finally {
      this.#isReturning = false;
      this.#discovery = undefined;
    }
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "all" || scope === "client") await this.#store.change((now) => ({ ...now, clients: {} }));
    if (scope === "all" || scope === "tokens") await this.#store.change((now) => ({ ...now, tokens: {} }));
    if (scope === "all" || scope === "discovery") this.#discovery = undefined;
  }
}

function issuerOf(context: OAuthClientInformationContext | undefined, { lastIssuer }: Credentials): string {
  return context?.issuer ?? lastIssuer ?? "";
}
