import type { ToolNeeds } from '@gaia-mesh/core/contracts/tool.ts';
import type { DataTool } from './data-tool.ts';
import { noServices, type ToolServices } from './tool-services.ts';
import { listServiceVariables, type ServiceName } from './web/services.ts';

/** A data tool in the registry; see `tools/registry.ts`. */
interface DataToolEntry {
  readonly load: (services?: ToolServices) => Promise<DataTool>;
  readonly needs?: ToolNeeds;
  /** Names of the options that it reads; none by default. */
  readonly options?: readonly string[];
}

/** Options of tools that call services. */
const SERVICE = ['timeout_ms', 'retries'];
const PYTHON = ['python_memory_mb', 'python_timeout_s'];

const FINDS_FILES: ToolNeeds = { files: 'read' };
const WRITES_FILES: ToolNeeds = { files: 'write' };
/** Files are read, and code is run, by processes of their own, which the tool can end. */
const RUNS_JOBS: ToolNeeds = { files: 'read', childProcesses: true };
/** Needs of a tool that calls services; `further` names variables that it reads besides those of the services. */
function describeServiceNeeds(services: readonly ServiceName[], further: readonly string[] = []): ToolNeeds {
  return { network: true, environment: [...listServiceVariables(services), ...further] };
}
/** Needs of a tool that fetches any URL it is given. */
const FETCHES: ToolNeeds = describeServiceNeeds([], ['GAIA_MESH_ALLOW_PRIVATE_HOSTS']);
const WATCHES: ToolNeeds = describeServiceNeeds(['gemini'], ['GEMINI_MODEL']);
const KEEPS_ATTEMPTS: ToolNeeds = { store: true };

/** The data tools by name. Roles recognise them by this list, too. */
export const dataTools: Readonly<Record<string, DataToolEntry>> = {
  // The web.
  duckduckgo_search: {
    load: async () => (await import('./web/search/duckduckgo-search.ts')).duckduckgoSearch,
    needs: describeServiceNeeds(['duckduckgo', 'duckduckgoLite']),
    options: SERVICE,
  },
  tavily_search: {
    load: async () => (await import('./web/search/tavily-search.ts')).tavilySearch,
    needs: describeServiceNeeds(['tavily']),
    options: SERVICE,
  },
  searxng_search: {
    load: async () => (await import('./web/search/searxng-search.ts')).searxngSearch,
    needs: describeServiceNeeds(['searxng']),
    options: SERVICE,
  },
  wikipedia: {
    load: async () => (await import('./web/search/wikipedia.ts')).wikipedia,
    needs: describeServiceNeeds(['wikipedia']),
    options: SERVICE,
  },
  arxiv_search: {
    load: async () => (await import('./web/search/arxiv-search.ts')).arxivSearch,
    needs: describeServiceNeeds(['arxiv']),
    options: SERVICE,
  },
  youtube_transcript: {
    load: async () => (await import('./web/youtube/youtube-transcript.ts')).youtubeTranscript,
    needs: describeServiceNeeds(['youtube']),
    options: SERVICE,
  },
  fetch_page: {
    load: async () => (await import('./web/pages/fetch-page.ts')).fetchPage,
    needs: { ...FETCHES, childProcesses: true },
  },
  download_file: {
    load: async () => (await import('./web/pages/save-download.ts')).downloadFile,
    needs: { ...FETCHES, ...WRITES_FILES },
  },
  gaia_file: {
    load: async () => (await import('./web/pages/gaia-file.ts')).gaiaFile,
    needs: { ...describeServiceNeeds(['huggingface', 'scoring']), ...WRITES_FILES },
    options: [...SERVICE, 'sources'],
  },
  // Files of the question.
  list_files: { load: async () => (await import('./files/find-file.ts')).listFiles, needs: FINDS_FILES },
  find_file: { load: async () => (await import('./files/find-file.ts')).findFileTool, needs: FINDS_FILES },
  read_file: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_file,
    needs: RUNS_JOBS,
  },
  read_excel: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_excel,
    needs: RUNS_JOBS,
  },
  query_table: {
    load: async () => (await import('./files/tables/query-table.ts')).queryTable,
    needs: RUNS_JOBS,
  },
  read_pdf: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_pdf,
    needs: RUNS_JOBS,
  },
  read_docx: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_docx,
    needs: RUNS_JOBS,
  },
  read_pptx: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_pptx,
    needs: RUNS_JOBS,
  },
  read_zip: {
    load: async () => (await import('./files/document-tools.ts')).documentTools.read_zip,
    needs: RUNS_JOBS,
  },
  // Images, audio and video.
  analyze_image: {
    load: async () => (await import('./media/analyze-image.ts')).analyzeImage,
    needs: {
      ...describeServiceNeeds(['vision', 'gemini'], ['VISION_MODEL', 'GEMINI_MODEL']),
      ...RUNS_JOBS,
    },
    options: SERVICE,
  },
  understand_audio: {
    load: async () => (await import('./media/understand-media.ts')).mediaTools.understand_audio,
    needs: {
      ...describeServiceNeeds(['whisper', 'gemini'], ['WHISPER_MODEL', 'GEMINI_MODEL']),
      ...RUNS_JOBS,
    },
    options: SERVICE,
  },
  understand_video: {
    load: async () => (await import('./media/understand-media.ts')).mediaTools.understand_video,
    needs: WATCHES,
    options: SERVICE,
  },
  analyze_youtube_video: {
    load: async () => (await import('./media/understand-media.ts')).mediaTools.analyze_youtube_video,
    needs: WATCHES,
    options: SERVICE,
  },
  // Computation.
  calculator: {
    load: async () => (await import('./compute/calculator/calculator.ts')).calculator,
    needs: RUNS_JOBS,
  },
  python_repl: {
    load: async () => (await import('./compute/python/python-tools.ts')).pythonTools.python_repl,
    needs: RUNS_JOBS,
    options: PYTHON,
  },
  execute_python_file: {
    load: async () => (await import('./compute/python/python-tools.ts')).pythonTools.execute_python_file,
    needs: RUNS_JOBS,
    options: PYTHON,
  },
  // Memory of earlier attempts.
  gap_store: {
    load: async (services = noServices) =>
      (await import('./roles/memory/gap-store.ts')).createGapStore(services),
    needs: KEEPS_ATTEMPTS,
  },
};
