import type { ProcessIdentity, TeamBus } from "../../../../src/protocol/team.ts";
import { createNatsTeam, type NatsBusOptions, openNatsBus } from "../../../../src/team/bus/nats/open.ts";
import { natsServer } from "../../../support/nats-server.ts";
import { sampleTeam } from "../sample-team.ts";

/** A team on a server of the test's own; every bus it opened is closed at the end. */
export async function natsTeam(...names: string[]) {
  const server = await natsServer();
  const clock = { now: Date.now() };
  const buses: TeamBus[] = [];
  await createNatsTeam({ url: server.url }, sampleTeam(...names));
  return {
    server,
    clock,
    async open(name: string, epoch = 1, process?: ProcessIdentity, more: Partial<NatsBusOptions> = {}) {
      const bus = await openNatsBus({
        address: { url: server.url },
        team: "auth",
        self: { name, epoch },
        clock: () => clock.now,
        ...(process ? { process } : {}),
        ...more,
      });
      buses.push(bus);
      return bus;
    },
    async [Symbol.asyncDispose]() {
      for (const bus of buses) await bus[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
