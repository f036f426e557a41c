/** The file formats of import and export. */
export const formatNames = ["env", "shell", "docker", "json", "yaml"] as const
export type FormatName = (typeof formatNames)[number]
