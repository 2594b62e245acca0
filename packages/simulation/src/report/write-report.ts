/** Writes the report in HTML. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { reportPage } from '@reeve/console/report'
import { type ReportedRun, reportData } from './report-page.ts'

/** Writes the page, and says where. */
export async function writeReport(file: string, runs: readonly ReportedRun[], durationMs: number): Promise<void> {
  await writeFile(file, await reportPage(reportData(runs, { generatedMs: Date.now(), durationMs })))
  process.stderr.write(`report: ${resolve(file)}\n`)
}
