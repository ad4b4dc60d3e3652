/**
 * A user's own tool: it answers with the question or, when the question says so, waits until it is stopped, or fails.
 */
export const waiter = {
  name: 'waiter',
  description: 'Answers with the question',
  accepts: ['doc_init'],
  emits: ['heard', 'said'],
  async run(
    { payload }: { readonly payload: { readonly question?: unknown } },
    { signal }: { readonly signal: AbortSignal },
  ) {
    const question = String(payload.question);
    if (question.startsWith('wait')) {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    if (question.startsWith('fail')) throw new Error('it was asked to');
    return [
      { type: 'heard', payload: {} },
      { type: 'said', payload: { answer: `You said: ${question}` }, tag: 'final_answer' },
    ];
  },
};
