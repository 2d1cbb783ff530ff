import { argsOf, programOf, type Word } from "../command-line.ts";
import { touchesOf } from "../touches.ts";
import { type Detector, deny, pathsOf, stickyAsk } from "./finding.ts";

const BLOCK_DEVICE =
  /^\/dev\/((sd|hd|vd|xvd|nvme|mmcblk|r?disk|loop|md|dm-|sr|nbd|zd|pmem|ram)[\w-]*|mapper\/.+|disk\/.+|[a-z]+\/(lv|vg).*|mem|kmem|port)$/;
const FORMATTERS =
  /^(mkfs(\..+)?|mke2fs|mkswap|mkdosfs|mkntfs|newfs(_.+)?|blkdiscard|wipefs|sfdisk|sgdisk|badblocks|pvcreate|vgremove|lvremove|pvremove|zpool|cryptsetup|nvme|hdparm|format|fdformat)$/;
const PARTITIONERS = /^(fdisk|cfdisk|gdisk|parted|gparted)$/;
const HARMLESS =
  /^(-l|--list|-p|--print|print|list|status|-h|--help|-V|--version|-n|--no-act|isLuks|luksDump|-I|-i|id-ctrl|smart-log|-J|--json|-o)$/;

/** Writing, formatting or wiping a block device. */
export const devices: Detector = (part, { ground }) => {
  const name = programOf(part);
  const args = argsOf(part);
  const written = [...touchesOf(part).writes, ...touchesOf(part).removes].flatMap((word) => pathsOf(word, part, ground) ?? []);
  const device = written.find((path) => BLOCK_DEVICE.test(path));
  if (device) return [deny(`it writes to the device "${device}"`)];
  if (written.includes("/proc/sysrq-trigger")) return [deny("it stops the machine by the kernel's emergency key")];
  if (name === "diskutil" || name === "asr" || name === "hdiutil")
    return isDiskutilHarm(args) ? [deny(`"${name}" erases or changes a disk`)] : [];
  if (!FORMATTERS.test(name) && !PARTITIONERS.test(name)) return [];
  if (args.some((word) => HARMLESS.test(word.text)) && !/^mkfs/.test(name)) return [];
  const named = args.find(
    (word) => BLOCK_DEVICE.test(word.text) || (word.isKnown && (pathsOf(word, part, ground) ?? []).some((path) => BLOCK_DEVICE.test(path))),
  );
  if (named) return [deny(`"${name}" formats or wipes the device "${named.text}"`)];
  if (name === "zpool" && args.some((word) => /^(create|destroy|labelclear)$/.test(word.text)))
    return [deny("zpool takes or destroys whole disks")];
  return args.some((word) => !word.isKnown || word.text.startsWith("/dev/"))
    ? [stickyAsk(`"${name}" formats something that is only known when it runs`)]
    : [];
};

function isDiskutilHarm(args: readonly Word[]): boolean {
  return (
    args.some((word) => /^(erase|partition|zeroDisk|randomDisk|secureErase|reformat|delete|restore|merge|split|apfs$)/i.test(word.text)) &&
    !args.some((word) => word.text === "list")
  );
}
