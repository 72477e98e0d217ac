"""Tiny pipelines of diffusers' and transformers' own classes with random weights, saved as real ones are.

No weights can be downloaded where tests run: these have a few thousand each, and go through the same code as real ones.
"""

import io
import string

import diffusers
import pytest
import sentencepiece
import torch
import transformers


def clip_tokenizer(length=77):
    letters = string.ascii_lowercase + string.digits + ".,'"
    tokens = [*letters, *(f"{one}</w>" for one in letters), "<|startoftext|>", "<|endoftext|>"]
    vocab = {token: number for number, token in enumerate(tokens)}
    return transformers.CLIPTokenizer(vocab=vocab, merges=[], model_max_length=length)


def clip_text(tokenizer, hidden=32, projection=32, cls=transformers.CLIPTextModel):
    config = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=projection,
        max_position_embeddings=77,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return cls(config).eval()


def t5(hidden=32, length=256):
    vocab = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    vocab += [(one, -3.0) for one in string.ascii_letters + string.digits + ".,'"]
    tokenizer = transformers.T5Tokenizer(vocab=vocab, extra_ids=0, model_max_length=length)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=hidden,
        d_kv=8,
        d_ff=37,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    return tokenizer, transformers.T5EncoderModel(config).eval()


def vae(channels=4, **options):
    return diffusers.AutoencoderKL(
        block_out_channels=[8, 8, 8, 16],
        in_channels=3,
        out_channels=3,
        norm_num_groups=4,
        latent_channels=channels,
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        **options,
    ).eval()


def unet(in_channels, **options):
    defaults = dict(
        block_out_channels=(16, 32),
        layers_per_block=1,
        sample_size=8,
        in_channels=in_channels,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
        attention_head_dim=4,
        norm_num_groups=8,
    )
    return diffusers.UNet2DConditionModel(**{**defaults, **options}).eval()


def sd2():
    tokenizer = clip_tokenizer()
    return diffusers.StableDiffusionInpaintPipeline(
        vae=vae(),
        text_encoder=clip_text(tokenizer),
        tokenizer=tokenizer,
        unet=unet(9),
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def sd2_text():
    tokenizer = clip_tokenizer()
    return diffusers.StableDiffusionPipeline(
        vae=vae(),
        text_encoder=clip_text(tokenizer),
        tokenizer=tokenizer,
        unet=unet(4),
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def instruct_pix2pix():
    tokenizer = clip_tokenizer()
    return diffusers.StableDiffusionInstructPix2PixPipeline(
        vae=vae(),
        text_encoder=clip_text(tokenizer),
        tokenizer=tokenizer,
        unet=unet(8),
        scheduler=diffusers.EulerAncestralDiscreteScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def sdxl():
    tokenizer, second = clip_tokenizer(), clip_tokenizer()
    return diffusers.StableDiffusionXLInpaintPipeline(
        vae=vae(),
        text_encoder=clip_text(tokenizer),
        tokenizer=tokenizer,
        text_encoder_2=clip_text(second, cls=transformers.CLIPTextModelWithProjection),
        tokenizer_2=second,
        unet=unet(
            9,
            cross_attention_dim=64,
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=80,
            transformer_layers_per_block=(1, 2),
            attention_head_dim=(2, 4),
        ),
        scheduler=diffusers.EulerDiscreteScheduler(),
    )


def sd35():
    one, two = clip_tokenizer(), clip_tokenizer()
    tokenizer, encoder = t5()
    return diffusers.StableDiffusion3InpaintPipeline(
        transformer=diffusers.SD3Transformer2DModel(
            sample_size=32,
            patch_size=2,
            in_channels=16,
            out_channels=16,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            caption_projection_dim=32,
            joint_attention_dim=32,
            pooled_projection_dim=64,
            pos_embed_max_size=96,
        ).eval(),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae(16, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06, scaling_factor=1.5),
        text_encoder=clip_text(one, cls=transformers.CLIPTextModelWithProjection),
        tokenizer=one,
        text_encoder_2=clip_text(two, cls=transformers.CLIPTextModelWithProjection),
        tokenizer_2=two,
        text_encoder_3=encoder,
        tokenizer_3=tokenizer,
    )


def flux_parts(in_channels):
    tokenizer = clip_tokenizer()
    second, encoder = t5()
    return dict(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae(4, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.1, scaling_factor=1.5),
        text_encoder=clip_text(tokenizer),
        tokenizer=tokenizer,
        text_encoder_2=encoder,
        tokenizer_2=second,
        transformer=diffusers.FluxTransformer2DModel(
            patch_size=1,
            in_channels=in_channels,
            out_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
            guidance_embeds=True,
        ).eval(),
    )


def flux_fill():
    return diffusers.FluxFillPipeline(**flux_parts(16 + 16 + 256))


def flux_kontext():
    return diffusers.FluxKontextPipeline(**flux_parts(16))


def hunyuan_dit():
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *string.ascii_lowercase,
        *(f"##{one}" for one in string.ascii_lowercase),
    ]
    bert = transformers.BertTokenizer(vocab={one: number for number, one in enumerate(words)}, model_max_length=77)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=37
    )
    second, encoder = t5()
    return diffusers.HunyuanDiTPipeline(
        vae=vae(),
        text_encoder=transformers.BertModel(config).eval(),
        tokenizer=bert,
        transformer=diffusers.HunyuanDiT2DModel(
            sample_size=16,
            num_layers=2,
            patch_size=2,
            attention_head_dim=8,
            num_attention_heads=2,
            mlp_ratio=2.0,
            in_channels=4,
            cross_attention_dim=32,
            cross_attention_dim_t5=32,
            pooled_projection_dim=16,
            hidden_size=16,
            text_len=77,
            text_len_t5=256,
            activation_fn="gelu-approximate",
            use_style_cond_and_image_meta_size=True,
            learn_sigma=True,
        ).eval(),
        scheduler=diffusers.DDPMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
        text_encoder_2=encoder,
        tokenizer_2=second,
    )


def kandinsky22():
    return diffusers.KandinskyV22InpaintPipeline(
        unet=diffusers.UNet2DConditionModel(
            in_channels=9,
            out_channels=8,
            addition_embed_type="image",
            down_block_types=("ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D"),
            up_block_types=("SimpleCrossAttnUpBlock2D", "ResnetUpsampleBlock2D"),
            mid_block_type="UNetMidBlock2DSimpleCrossAttn",
            block_out_channels=(32, 64),
            layers_per_block=1,
            encoder_hid_dim=32,
            encoder_hid_dim_type="image_proj",
            cross_attention_dim=32,
            attention_head_dim=4,
            resnet_time_scale_shift="scale_shift",
            class_embed_type=None,
        ).eval(),
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        movq=diffusers.VQModel(
            block_out_channels=[32, 32, 32, 64],
            down_block_types=["DownEncoderBlock2D"] * 3 + ["AttnDownEncoderBlock2D"],
            in_channels=3,
            latent_channels=4,
            layers_per_block=1,
            norm_num_groups=8,
            norm_type="spatial",
            num_vq_embeddings=12,
            out_channels=3,
            up_block_types=["AttnUpDecoderBlock2D"] + ["UpDecoderBlock2D"] * 3,
            vq_embed_dim=4,
        ).eval(),
    )


def kandinsky_prior():
    tokenizer = clip_tokenizer()
    vision = transformers.CLIPVisionConfig(
        hidden_size=32,
        image_size=32,
        projection_dim=32,
        num_attention_heads=4,
        num_channels=3,
        num_hidden_layers=1,
        patch_size=8,
        intermediate_size=37,
    )
    return diffusers.KandinskyV22PriorPipeline(
        prior=diffusers.PriorTransformer(
            num_attention_heads=2, attention_head_dim=12, embedding_dim=32, num_layers=1
        ).eval(),
        image_encoder=transformers.CLIPVisionModelWithProjection(vision).eval(),
        text_encoder=clip_text(tokenizer, cls=transformers.CLIPTextModelWithProjection),
        tokenizer=tokenizer,
        scheduler=diffusers.UnCLIPScheduler(
            variance_type="fixed_small_log",
            prediction_type="sample",
            num_train_timesteps=1000,
            clip_sample=True,
            clip_sample_range=10.0,
        ),
        image_processor=transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32),
    )


LINES = ["a red ball on the table", "make it blue", "an old wooden chair", "a photograph of a dog", "striped umbrella"]


def kolors(folder):
    from diffusers.pipelines.kolors.text_encoder import ChatGLMConfig, ChatGLMModel
    from diffusers.pipelines.kolors.tokenizer import ChatGLMTokenizer

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 20),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        minloglevel=2,
    )
    (folder / "tokenizer.model").write_bytes(model.getvalue())
    config = ChatGLMConfig(
        original_rope=True,
        num_layers=2,
        padded_vocab_size=200,
        hidden_size=32,
        ffn_hidden_size=37,
        kv_channels=8,
        num_attention_heads=4,
        seq_length=256,
        multi_query_attention=True,
        multi_query_group_num=2,
        add_qkv_bias=True,
    )
    encoder = ChatGLMModel(config).eval()
    for name, weight in encoder.named_parameters():  # the class leaves them as they are in memory
        torch.nn.init.ones_(weight) if "norm" in name else torch.nn.init.normal_(weight, std=0.05)
    size = {"addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 80}
    return diffusers.KolorsPipeline(
        vae=vae(),
        text_encoder=encoder,
        tokenizer=ChatGLMTokenizer(str(folder / "tokenizer.model")),
        unet=unet(4, encoder_hid_dim=32, encoder_hid_dim_type="text_proj", addition_embed_type="text_time", **size),
        scheduler=diffusers.EulerDiscreteScheduler(steps_offset=1),
    )


TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}{% if c['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def qwen_vl():
    """A Qwen2.5-VL over bytes, and its processor."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    names = ("im_start", "im_end", "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad")
    special = ["<|endoftext|>", *(f"<|{name}|>" for name in names)]
    vocab = {token: number for number, token in enumerate([*bytes_to_unicode().values(), *special])}
    tokenizer = transformers.Qwen2Tokenizer(
        vocab=vocab, merges=[], additional_special_tokens=special[1:], eos_token="<|im_end|>", model_max_length=4096
    )
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6}
    text = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "vocab_size": len(tokenizer),
        "rope_parameters": rope,
        "bos_token_id": vocab["<|endoftext|>"],
        "eos_token_id": vocab["<|im_end|>"],
        "pad_token_id": vocab["<|endoftext|>"],
    }
    vision = {
        "depth": 2,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_heads": 2,
        "out_hidden_size": 32,
        "window_size": 56,
        "fullatt_block_indexes": [1],
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=vocab["<|image_pad|>"],
        video_token_id=vocab["<|video_pad|>"],
        vision_start_token_id=vocab["<|vision_start|>"],
        vision_end_token_id=vocab["<|vision_end|>"],
    )
    model = transformers.Qwen2_5_VLForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id = vocab["<|im_end|>"]
    model.generation_config.pad_token_id = vocab["<|endoftext|>"]
    small = {"min_pixels": 56 * 56, "max_pixels": 56 * 56}
    processor = transformers.Qwen2_5_VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**small),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen2VLVideoProcessor(**small),
        chat_template=TEMPLATE,
    )
    return model, processor


def qwen_image_edit():
    model, processor = qwen_vl()
    return diffusers.QwenImageEditPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKLQwenImage(
            base_dim=24,
            z_dim=4,
            dim_mult=[1, 2, 4, 4],
            num_res_blocks=1,
            temperal_downsample=[False, True, True],
            latents_mean=[0.0] * 4,
            latents_std=[1.0] * 4,
        ).eval(),
        text_encoder=model,
        tokenizer=processor.tokenizer,
        processor=transformers.Qwen2VLProcessor(
            image_processor=processor.image_processor,
            tokenizer=processor.tokenizer,
            video_processor=processor.video_processor,
            chat_template=processor.chat_template,
        ),
        transformer=diffusers.QwenImageTransformer2DModel(
            patch_size=2,
            in_channels=16,
            out_channels=4,
            num_layers=2,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            guidance_embeds=False,
            axes_dims_rope=(8, 4, 4),
        ).eval(),
    )


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A function from an editor's name to the folder of its tiny pipeline, made when first asked for."""
    made = {}

    def folder_of(name):
        if name not in made:
            torch.manual_seed(0)
            made[name] = tmp_path_factory.mktemp(name)
            builder = BUILDERS[name]
            (builder(made[name]) if name == "kolors" else builder()).save_pretrained(made[name])
        return str(made[name])

    return folder_of


def grounding_dino():
    """A Grounding DINO over letters, and its processor."""
    letters = string.ascii_lowercase
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *letters, *(f"##{one}" for one in letters)]
    vocab = {word: number for number, word in enumerate(words)}
    tokenizer = transformers.BertTokenizer(vocab=vocab, model_max_length=256)
    bert = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 37}
    swin = {"embed_dim": 8, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 2, 2], "window_size": 4, "image_size": 64}
    config = transformers.GroundingDinoConfig(
        backbone_config=transformers.SwinConfig(**swin, out_features=["stage2", "stage3", "stage4"]),
        text_config=transformers.BertConfig(vocab_size=len(vocab), **bert),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=37,
        decoder_ffn_dim=37,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        num_queries=8,
    )
    sizes = {"shortest_edge": 64, "longest_edge": 128}
    processor = transformers.GroundingDinoProcessor(transformers.GroundingDinoImageProcessor(size=sizes), tokenizer)
    return transformers.GroundingDinoForObjectDetection(config).eval(), processor


def sam():
    """A Segment Anything of 64 pixels a side, and its processor."""
    side = {"hidden_size": 16, "image_size": 64, "patch_size": 8}
    vision = transformers.SamVisionConfig(
        **side,
        output_channels=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_pos_feats=8,
        window_size=4,
        global_attn_indexes=[0],
        mlp_dim=32,
    )
    prompts = transformers.SamPromptEncoderConfig(**side, mask_input_channels=4)
    decoder = transformers.SamMaskDecoderConfig(
        hidden_size=16, mlp_dim=32, num_hidden_layers=1, num_attention_heads=2, iou_head_hidden_dim=16
    )
    config = transformers.SamConfig(vision_config=vision, prompt_encoder_config=prompts, mask_decoder_config=decoder)
    square = {"height": 64, "width": 64}
    images = transformers.SamImageProcessor(
        size={"longest_edge": 64},
        pad_size=square,
        mask_size={"longest_edge": 16},
        mask_pad_size={"height": 16, "width": 16},
    )
    return transformers.SamModel(config).eval(), transformers.SamProcessor(images)


@pytest.fixture(scope="session")
def tiny_part(tmp_path_factory):
    """A function from the name of a model with a processor to the folder that holds both."""
    makers = {"qwen_vl": qwen_vl, "grounding_dino": grounding_dino, "sam": sam}
    made = {}

    def folder_of(name):
        if name not in made:
            torch.manual_seed(0)
            made[name] = tmp_path_factory.mktemp(name)
            for part in makers[name]():
                part.save_pretrained(made[name])
        return str(made[name])

    return folder_of


@pytest.fixture(scope="session")
def answering_model(tmp_path_factory):
    """A function that teaches the tiny Qwen2.5-VL one answer to one question about some images; returns its folder."""

    def teach(images, question, answer):
        from PIL import Image

        torch.manual_seed(0)
        model, processor = qwen_vl()
        pictures = [{"type": "image", "image": Image.fromarray(image)} for image in images]
        content = [*pictures, {"type": "text", "text": question}]
        inputs = processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        tokens = torch.tensor([[*processor.tokenizer(answer)["input_ids"], model.generation_config.eos_token_id]])
        labels = torch.cat([torch.full_like(inputs["input_ids"], -100), tokens], 1)
        inputs["input_ids"] = torch.cat([inputs["input_ids"], tokens], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            inputs["mm_token_type_ids"] = torch.cat([inputs["mm_token_type_ids"], torch.zeros_like(tokens)], 1)
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for _ in range(250):
            optimizer.zero_grad()
            model(**inputs, labels=labels).loss.backward()
            optimizer.step()
        folder = tmp_path_factory.mktemp("answering")
        model.eval().save_pretrained(folder)
        processor.save_pretrained(folder)
        return str(folder)

    return teach


BUILDERS = {
    "sd2": sd2,
    "sd2_text": sd2_text,
    "sd35": sd35,
    "sdxl": sdxl,
    "flux_fill": flux_fill,
    "kolors": kolors,
    "hunyuan_dit": hunyuan_dit,
    "kandinsky22": kandinsky22,
    "kandinsky_prior": kandinsky_prior,
    "instruct_pix2pix": instruct_pix2pix,
    "flux_kontext": flux_kontext,
    "qwen_image_edit": qwen_image_edit,
}


@pytest.fixture(scope="session")
def learned_options(tiny_model):
    """A function from an editor's name to the options that make it use its tiny pipeline, in two steps."""

    def options_of(name):
        options = {"model": tiny_model(name), "steps": 2}
        if name == "kandinsky22":
            options |= {"prior": tiny_model("kandinsky_prior"), "prior_steps": 2}
        return options

    return options_of
