export interface Finding {
  readonly what: string;
  /** `note`: fine without it, but something will not be available. */
  readonly status: 'ok' | 'note' | 'bad';
  readonly detail: string;
}
