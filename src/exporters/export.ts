import type { Tape } from '../tape/index.ts'
import { exportHar } from './har.ts'
import { exportOtlp } from './otlp/export.ts'
import { exportTrace } from './trace.ts'
import type { Exported, Exporter, ExportFormat, ExportOptions } from './types.ts'

/**
 * Writes a tape in another format, for tools that know it. Nothing is made up: what the tape does not hold is absent or
 * marked. What was redacted is redacted here, too.
 *
 * @param tape - as `readTape` gives it; a truncated one is exported as far as it goes
 */
export function exportTape(tape: Tape, format: ExportFormat, options: ExportOptions): Exported {
  return exporters[format](tape, options)
}

const exporters: Readonly<Record<ExportFormat, Exporter>> = { otlp: exportOtlp, har: exportHar, json: exportTrace }
