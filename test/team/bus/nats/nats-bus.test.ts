import { natsDescribe } from "../../../support/nats-server.ts";
import { busContract } from "../contract.ts";
import { natsTeam } from "./nats-team.ts";

natsDescribe("on a server of 2.9 or newer", () => busContract("NATS", () => natsTeam("alice", "bob")));
