export const THEME_NAMES = ["auto", "dark", "light", "daltonized", "high-contrast", "none"] as const;
export type ThemeName = (typeof THEME_NAMES)[number];
