/**
 * The exports of `gaia-mesh`: the types for writing an adapter, a tool or an engine, and the mesh itself for driving it
 * from code (`docs/extending.md`).
 */

export * from '@gaia-mesh/core';
export type { Step } from '@gaia-mesh/core/contracts/engine.ts';
export type { LedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
export { AcknowledgedDelivery } from '@gaia-mesh/core/hub/delivery/acknowledged.ts';
export type { DeliveryStrategy } from '@gaia-mesh/core/hub/delivery/delivery-strategy.ts';
export { DirectDelivery } from '@gaia-mesh/core/hub/delivery/direct.ts';
export { type DeliveryEvent, FaultyDelivery } from '@gaia-mesh/core/hub/delivery/faulty.ts';
export { parseFaults } from '@gaia-mesh/core/hub/faults/parse-faults.ts';
export type { Link, LinkCounts } from '@gaia-mesh/core/hub/link.ts';
export type { TaskOutcome, TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
export { formatTraceparent } from '@gaia-mesh/core/recording/trace-context.ts';
export type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
export { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
export * from '@gaia-mesh/evaluation';
export { loadAdapter } from '@gaia-mesh/protocols';
export * from '@gaia-mesh/stacks';
