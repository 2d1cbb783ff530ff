import fc from "fast-check";
import { expect, test } from "vitest";
import { fillArguments } from "../../../src/tools/skills/fill-arguments.ts";

test("F-07: one pass only; a price without a word stays, a backslash makes a place plain text", () => {
  expect(fillArguments("Do $ARGUMENTS for $5 and \\$1", "echo $ARGUMENTS !`date`")).toBe("Do echo $ARGUMENTS !`date` for $5 and $1");
});

test("places by number take words; quotes keep some together; $10 and $ARGUMENTSX are no places", () => {
  expect(fillArguments("$2 then $1, $10, $ARGUMENTSX", "one 'two words'")).toBe("two words then one, $10, $ARGUMENTSX");
});

test("what no place took stands below; nothing given adds nothing", () => {
  expect(fillArguments("Look.", "at this")).toBe("Look.\n\nArguments: at this");
  expect(fillArguments("Look at $1.", "")).toBe("Look at $1.");
  expect(fillArguments("Look at [$ARGUMENTS].", "")).toBe("Look at [].");
});

test("what is given comes out as it is, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string(), (given) => {
      expect(fillArguments("<$ARGUMENTS>", given)).toBe(`<${given}>`);
    }),
  );
});
