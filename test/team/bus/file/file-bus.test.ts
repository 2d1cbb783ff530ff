import { busContract } from "../contract.ts";
import { fileTeam } from "./file-team.ts";

busContract("file", () => fileTeam("alice", "bob"));
