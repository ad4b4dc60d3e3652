/** 1 if both texts are equal after trimming white space, else 0. Case, accents and punctuation count. */
export function exactMatch(prediction: string, truth: string): 0 | 1 {
  return prediction.trim() === truth.trim() ? 1 : 0;
}
