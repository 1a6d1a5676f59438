import { HarvestError, neutralLine } from '../errors/index.ts'

/** The environment variable that turns every recorder of a process off: `off`, or `on` as without it. */
export const switchName = 'VITEST_HARVEST_RECORD'

/**
 * Whether the environment lets recorders record.
 *
 * @throws HarvestError `HARVEST_RECORDER_OPTION` for any other value: a misspelt switch must not record
 */
export function isSwitchedOn(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const value = env[switchName]
  if (value === undefined || value === 'on') return true
  if (value === 'off') return false
  throw new HarvestError('HARVEST_RECORDER_OPTION', {
    what: `Invalid value of the environment variable ${switchName}`,
    where: { given: neutralLine(JSON.stringify(value)), wanted: 'off or on' },
    fix: [`${switchName}=off`, `or unset it: unset ${switchName}`],
  })
}
