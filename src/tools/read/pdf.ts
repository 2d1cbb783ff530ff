import type { FileHandle } from "node:fs/promises";
import { isErrno } from "../../platform/files.ts";
import { ownEnvironment } from "../../platform/own-programs.ts";
import { errorResult, type ToolResult, textResult } from "../../protocol/tool.ts";
import { type Page, pageOf } from "./page.ts";

const MAX_BYTES = 200 * 1024 * 1024;
const MAX_TEXT = 20_000_000;
const TIMEOUT_MS = 30_000;

export type PdfRead = { file: FileHandle; shown: string; page: Page; signal: AbortSignal };

/** The text of a PDF by poppler's pdftotext, which takes the very file that was opened on its standard input. */
export async function readPdf({ file, shown, page, signal }: PdfRead): Promise<ToolResult> {
  const { size } = await file.stat();
  if (size > MAX_BYTES) return errorResult(`${shown} is a PDF of ${size} bytes, too large to be turned into text here.`);
  try {
    const text = await pdfToText(file.fd, signal);
    if (text.trim() === "")
      return errorResult(`${shown} is a PDF without text (scanned pages, perhaps). Turn a page into an image: pdftoppm -png -r 100.`);
    return textResult(pageOf(text.replaceAll("\f", "\n[next page]\n"), page, shown));
  } catch (error) {
    if (isErrno(error, "ENOENT"))
      return errorResult(
        `${shown} is a PDF; its text is read with pdftotext, which is not installed (poppler-utils on Debian, poppler in Homebrew).`,
      );
    if (error instanceof PdfError) return errorResult(`${shown} is a PDF that pdftotext can't read: ${error.message}`);
    throw error;
  }
}

class PdfError extends Error {}

async function pdfToText(fd: number, signal: AbortSignal): Promise<string> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn("pdftotext", ["-layout", "-enc", "UTF-8", "-", "-"], {
      env: ownEnvironment(),
      stdio: [fd, "pipe", "pipe"],
      signal,
      timeout: TIMEOUT_MS,
    });
    const out: Buffer[] = [];
    let size = 0;
    let problem = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_TEXT) out.push(chunk);
      else child.kill();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (problem.length < 500) problem += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0 || size > MAX_TEXT) resolve(Buffer.concat(out).toString("utf8"));
      else reject(new PdfError(problem.trim().slice(0, 500) || `it ended with ${code ?? "a signal"}`));
    });
  });
}
