export async function bootWorker(path: string): Promise<number> {
  return path.length;
}
