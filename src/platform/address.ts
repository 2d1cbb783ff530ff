/** An address as it may be shown: without the password and the values of the query, where keys are often put. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.username === "" && url.password === "" && url.search === "") return address;
  if (url.username !== "" || url.password !== "") [url.username, url.password] = ["hidden", ""];
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, "hidden");
  return url.href;
}
