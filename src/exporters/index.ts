export { exportTape } from './export.ts'
export { type Exported, type ExportFormat, exportFormats, type ExportOptions } from './types.ts'
